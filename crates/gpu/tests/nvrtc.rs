//! Every kernel file compiles as CUDA, for old and new GPUs, without one being there. Skipped where NVIDIA's compiler is not,
//! unless `TADOC_TEST_NVRTC` says that it must be.

use std::path::Path;

use tadoc_gpu::device::{Module, compile_for_cuda};

/// The oldest GPUs that current compilers know, and the H200's.
const ARCHITECTURES: [&str; 2] = ["compute_75", "compute_90"];

/// The kernel files, which last as long as the process.
fn modules() -> Vec<Module> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let mut paths: Vec<_> = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    paths.sort();
    let module = |path: &std::path::PathBuf| Module {
        name: path.file_stem().unwrap().to_str().unwrap().to_owned().leak(),
        source: std::fs::read_to_string(path).unwrap().leak(),
    };
    paths.iter().map(module).collect()
}

/// Whether there is a compiler; a line says so if not.
fn has_compiler() -> bool {
    static EMPTY: Module = Module { name: "empty", source: "KERNEL nothing(u32 count)\n{\n}\n" };
    match compile_for_cuda(&EMPTY, ARCHITECTURES[0]) {
        Ok(_) => true,
        Err(error) if std::env::var_os("TADOC_TEST_NVRTC").is_none() => {
            eprintln!("skipped: {error}");
            false
        }
        Err(error) => panic!("TADOC_TEST_NVRTC is set, but {error}"),
    }
}

#[test]
fn kernels_compile_as_cuda() {
    if !has_compiler() {
        return;
    }
    let modules = modules();
    assert!(modules.iter().any(|module| module.name == "measure"), "{modules:?}");
    for module in &modules {
        for architecture in ARCHITECTURES {
            if let Err(error) = compile_for_cuda(module, architecture) {
                panic!("{error}");
            }
        }
    }
}

#[test]
fn what_is_wrong_is_told() {
    if !has_compiler() {
        return;
    }
    static WRONG: Module =
        Module { name: "wrong", source: "KERNEL wrong(u32 count)\n{ nonsense }\n" };
    let told = compile_for_cuda(&WRONG, ARCHITECTURES[0]).unwrap_err().to_string();
    assert!(told.contains("wrong") && told.contains("nonsense"), "{told}");
}
