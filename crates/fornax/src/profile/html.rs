//! A profile as one page that needs nothing else: style, script and data are in it, and it asks no network.

use super::Profile;
use crate::error::Result;

impl Profile {
    /// The page.
    pub fn to_html(&self) -> Result<String> {
        // The data stands inside a script element, which the first "</" would end.
        let data = self.to_json()?.replace("</", "<\\/");
        let title = self.name.replace('&', "&amp;").replace('<', "&lt;");
        let parts = [
            ("/*style*/", include_str!("page/page.css")),
            ("/*script*/", concat!(include_str!("page/charts.js"), include_str!("page/page.js"))),
            ("<!--title-->", &title),
        ];
        let page = parts.iter().fold(include_str!("page/page.html").to_string(), |page, (mark, text)| {
            page.replacen(mark, text, 1)
        });
        // Last, so that no mark is looked for in the data.
        Ok(page.replacen("/*data*/", &data, 1))
    }
}
