//! The table of cases (`cases`) on every device present against the reference interpreter. The run prints which devices it
//! covered.

mod cases;

use cases::{PARTS, Table, difference};
use fornax::{Device, Result, Tensor};

/// Every device of this machine; the CPU also without fusion.
fn devices() -> Vec<Device> {
    let names = Device::names();
    println!("devices covered: {}", names.join(", "));
    let mut devices: Vec<Device> = names.iter().map(|name| Device::open(name).unwrap()).collect();
    let plain = Device::open("cpu").unwrap();
    plain.set_fusion(false);
    devices.push(plain);
    devices
}

/// Evaluates on the device and by the interpreter, and compares.
fn check(what: &str, result: Result<Tensor>) {
    let tensor = result.unwrap_or_else(|e| panic!("{what}: {e}"));
    let want = tensor.reference().unwrap_or_else(|e| panic!("{what}: reference: {e}"));
    let got = tensor.to_bytes().unwrap_or_else(|e| panic!("{what}: {e}"));
    if let Some(difference) = difference(&got, &want, &tensor) {
        panic!("{what}: {difference}");
    }
}

fn walk(part: &str) {
    let (_, part) = PARTS.into_iter().find(|(name, _)| *name == part).expect("a part of that name");
    for device in devices() {
        part(&mut Table { device: &device, tested: &device, case: &mut check });
    }
}

/// A test for each part of the table.
macro_rules! tests {
    ($($part:ident)*) => {
        $(#[test]
        fn $part() {
            walk(stringify!($part));
        })*

        #[test]
        fn no_part_is_left_out() {
            let tested = [$(stringify!($part)),*];
            assert_eq!(tested.to_vec(), PARTS.map(|(name, _)| name));
        }
    };
}

tests! {
    elementwise_functions_of_one_operand
    elementwise_functions_of_two_operands
    reductions_over_any_axes
    rows_longer_than_a_tile
    sums_that_several_workgroups_share
    results_too_large_for_the_caches
    normalisation_losses_and_indexing
    views_compose
    matrix_products_of_every_layout
    attention_forward_and_backward
}
