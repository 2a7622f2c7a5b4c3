//! Every kernel file compiles as CUDA, for old and new GPUs, without one being there. Skipped where NVIDIA's compiler is not,
//! unless `TADOC_TEST_NVRTC` says that it must be.

use tadoc_gpu::device::{Module, compile_for_cuda};

/// The oldest GPUs that current compilers know, and the H200's.
const ARCHITECTURES: [&str; 2] = ["compute_75", "compute_90"];

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
    for module in tadoc_gpu::modules() {
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
