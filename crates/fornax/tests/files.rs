//! Files: what is written is read again, and what is broken is a typed error that changes nothing.

use fornax::io::{npy, safetensors};
use fornax::nn::{Linear, Module};
use fornax::{DType, Device, Error, Result, Tensor};
use std::path::PathBuf;

/// A file of this test's own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        Scratch(std::env::temp_dir().join(format!("fornax-test-{}-{name}", std::process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn every_dtype() -> Result<Vec<(String, Tensor)>> {
    let whole = Tensor::from_slice(&[0f32, 1.0, 2.0, 3.0, 4.0, 255.0], &[2, 3], &Device::cpu())?;
    let mut all = vec![];
    for dtype in fornax::dtype::ALL_DTYPES {
        all.push((format!("t.{dtype}"), whole.to_dtype(dtype)?));
    }
    all.push(("scalar".into(), Tensor::from_slice(&[7i64], &[], &Device::cpu())?));
    all.push(("empty".into(), Tensor::from_slice::<f32>(&[], &[0, 4], &Device::cpu())?));
    Ok(all)
}

#[test]
fn safetensors_round_trip() -> Result<()> {
    let file = Scratch::new("round.safetensors");
    let all = every_dtype()?;
    safetensors::save(&file.0, &all)?;
    let read = safetensors::load(&file.0, &Device::cpu())?;
    assert_eq!(read.len(), all.len());
    for (name, tensor) in &all {
        let other = &read[name];
        assert_eq!((other.shape(), other.dtype()), (tensor.shape(), tensor.dtype()), "{name}");
        assert_eq!(other.to_bytes()?, tensor.to_bytes()?, "{name}");
    }
    let twice = [all[0].clone(), all[0].clone()];
    assert!(matches!(safetensors::save(&file.0, &twice), Err(Error::Parameter { .. })));
    Ok(())
}

#[test]
fn npy_round_trip() -> Result<()> {
    for (name, tensor) in every_dtype()? {
        let file = Scratch::new(&format!("{name}.npy"));
        if tensor.dtype() == DType::BF16 {
            assert!(matches!(npy::write(&file.0, &tensor), Err(Error::DType { .. })));
            assert!(!file.0.exists());
            continue;
        }
        npy::write(&file.0, &tensor)?;
        let other = npy::read(&file.0, &Device::cpu())?;
        assert_eq!((other.shape(), other.dtype()), (tensor.shape(), tensor.dtype()), "{name}");
        assert_eq!(other.to_bytes()?, tensor.to_bytes()?, "{name}");
        assert_eq!((std::fs::metadata(&file.0).unwrap().len() as usize - tensor.to_bytes()?.len()) % 64, 0);
    }
    Ok(())
}

#[test]
fn npy_files_of_numpy() -> Result<()> {
    let read = |name: &str| {
        npy::read(format!("{}/tests/fixtures/{name}.npy", env!("CARGO_MANIFEST_DIR")), &Device::cpu())
    };
    assert_eq!(read("c_f32")?.to_vec::<f32>()?, [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]);
    let fortran = read("fortran_f64")?;
    assert_eq!(fortran.shape(), [2, 3]);
    assert_eq!(fortran.to_vec::<f64>()?, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(read("big_i32")?.to_vec::<i32>()?, [-3, -2, -1, 0, 1, 2]);
    assert_eq!(read("vector_bool")?.to_vec::<bool>()?, [true, false, true]);
    let scalar = read("scalar_f16")?;
    assert_eq!((scalar.rank(), scalar.to_dtype(DType::F32)?.item::<f32>()?), (0, 1.5));
    assert!(matches!(read("complex"), Err(Error::Format { .. })));
    assert!(matches!(read("absent"), Err(Error::Io { .. })));
    Ok(())
}

#[test]
fn broken_npy_files() -> Result<()> {
    let file = Scratch::new("broken.npy");
    npy::write(&file.0, &Tensor::from_slice(&[1f32, 2.0], &[2], &Device::cpu())?)?;
    let good = std::fs::read(&file.0).unwrap();
    let mut version = good.clone();
    version[6] = 9;
    let text = |from: &str, to: &str| String::from_utf8_lossy(&good[10..128]).replace(from, to).into_bytes();
    let with_header = |header: Vec<u8>| [&good[..10], &header[..], &good[128..]].concat();
    let cases = [
        vec![],
        b"PK\x03\x04 not npy".to_vec(),
        good[..9].to_vec(),
        good[..40].to_vec(),
        good[..good.len() - 1].to_vec(),
        [&good[..], b"more"].concat(),
        version,
        with_header(text("'<f4'", "'<f9'")),
        with_header(text("'<f4'", "'?f4'")),
        with_header(text("False", "Maybe")),
        with_header(text("(2,)", "(x,)")),
        with_header(text("(2,)", "(3,)")),
        with_header(text("'descr'", "'dascr'")),
    ];
    for (i, bytes) in cases.iter().enumerate() {
        std::fs::write(&file.0, bytes).unwrap();
        let result = npy::read(&file.0, &Device::cpu());
        assert!(matches!(result, Err(Error::Format { .. })), "case {i}: {result:?}");
    }
    Ok(())
}

#[test]
fn parameters_must_match() -> Result<()> {
    let device = Device::cpu();
    let file = Scratch::new("parameters.safetensors");
    let missing = safetensors::load(Scratch::new("nowhere").0.as_path(), &device);
    assert!(matches!(missing, Err(Error::Io { .. })));
    std::fs::write(&file.0, b"\x10\0\0\0\0\0\0\0{\"broken").unwrap();
    assert!(matches!(safetensors::load(&file.0, &device), Err(Error::Format { .. })));

    let model = Linear::new(3, 2, &device)?;
    let before = model.weight.tensor().to_vec::<f32>()?;
    let (weight, bias) =
        (Tensor::ones(&[2, 3], DType::F64, &device)?, Tensor::ones(&[2], DType::F32, &device)?);
    let named = |list: &[(&str, &Tensor)]| -> Vec<(String, Tensor)> {
        list.iter().map(|(name, tensor)| (name.to_string(), (*tensor).clone())).collect()
    };
    let wrong = [
        (named(&[("weight", &weight)]), "bias"),
        (named(&[("weight", &weight), ("bias", &bias), ("extra", &bias)]), "extra"),
        (named(&[("weight", &weight.t()?), ("bias", &bias)]), "weight"),
        (named(&[("weight", &weight), ("bias", &bias.to_dtype(DType::I32)?)]), "bias"),
    ];
    for (tensors, culprit) in wrong {
        safetensors::save(&file.0, &tensors)?;
        match safetensors::load_parameters(&file.0, &model) {
            Err(Error::Parameter { name, .. }) => assert_eq!(name, culprit),
            other => panic!("{culprit}: {other:?}"),
        }
        assert_eq!(model.weight.tensor().to_vec::<f32>()?, before);
    }
    safetensors::save(&file.0, &named(&[("weight", &weight), ("bias", &bias)]))?;
    safetensors::load_parameters(&file.0, &model)?;
    assert_eq!(model.weight.tensor().to_vec::<f32>()?, [1.0; 6]);
    assert_eq!(model.weight.dtype(), DType::F32);
    Ok(())
}

#[test]
fn a_failed_write_leaves_no_trace() -> Result<()> {
    let folder = std::env::temp_dir().join(format!("fornax-test-{}-nowhere", std::process::id()));
    let model = Linear::new(1, 1, &Device::cpu())?;
    let result = safetensors::save_parameters(folder.join("m.safetensors"), &model);
    assert!(matches!(result, Err(Error::Io { .. })));
    assert!(!folder.exists());
    // A folder is in the way of the rename; the temporary file must go.
    let taken = folder.join("taken");
    std::fs::create_dir_all(taken.join("inside")).unwrap();
    assert!(safetensors::save_parameters(&taken, &model).is_err());
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(left, ["taken"]);
    assert_eq!(model.named_parameters().len(), 2);
    Ok(())
}
