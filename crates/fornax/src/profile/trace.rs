//! A profile as a trace for Perfetto or chrome://tracing: a lane for the host, one for the device, memory as a counter.

use super::Profile;
use crate::error::{Error, Result};
use serde_json::{Value, json};

impl Profile {
    /// The timeline in the trace event format.
    pub fn to_trace(&self) -> Result<String> {
        let micro = |seconds: f64| (seconds * 1e9).round() / 1e3;
        let lane = |tid: u32, name: &str| json!({"ph": "M", "pid": 1, "tid": tid, "name": "thread_name", "args": {"name": name}});
        let mut events: Vec<Value> = vec![
            json!({"ph": "M", "pid": 1, "name": "process_name", "args": {"name": format!("{} on {}", self.name, self.device)}}),
            lane(1, "host"),
            lane(2, &self.device),
        ];
        let whole = |tid: u32, name: &str, kind: &str, begin: f64, end: f64, args: Value| {
            let length = micro((end - begin).max(0.0));
            json!({"ph": "X", "pid": 1, "tid": tid, "name": name, "cat": kind, "ts": micro(begin), "dur": length, "args": args})
        };
        events.push(whole(1, &self.name, "call", 0.0, self.timeline.length, json!({})));
        for span in &self.timeline.spans {
            events.push(whole(1, span.phase.name(), "phase", span.begin, span.end, json!({})));
        }
        for launch in &self.timeline.launches {
            let kernel = &self.kernels[launch.kernel];
            let each = |total: u64| total / kernel.count.max(1);
            let args = json!({
                "module": self.modules[launch.module].path,
                "pass": if launch.backward { "backward" } else { "forward" },
                "bytes": each(kernel.bytes_read + kernel.bytes_written),
                "operations": each(kernel.ops),
                "bound": kernel.bound,
                "of_roof": kernel.of_roof,
            });
            events.push(whole(2, &kernel.label, "kernel", launch.begin, launch.end, args));
        }
        for (at, bytes) in &self.memory.over_time {
            events.push(json!({"ph": "C", "pid": 1, "name": "memory in use", "ts": micro(*at), "args": {"bytes": bytes}}));
        }
        let trace = json!({"displayTimeUnit": "ms", "traceEvents": events});
        serde_json::to_string(&trace).map_err(|e| Error::Internal(format!("a trace as JSON: {e}")))
    }
}
