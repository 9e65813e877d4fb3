//! A one-line description of the machine.

use adaann::Instructions;

/// Processor, cores, instruction set and version.
pub fn description() -> String {
    let processor = std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split(':').nth(1)?.trim().to_owned())
        })
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "adaann {}, {processor}, {cores} cores, {} instructions, {}.",
        env!("CARGO_PKG_VERSION"),
        Instructions::current(),
        std::env::consts::OS
    )
}
