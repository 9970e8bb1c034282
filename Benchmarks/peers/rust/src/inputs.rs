// SPDX-License-Identifier: Apache-2.0

pub const RING: usize = 503;
pub const CREATURES: usize = 10;
pub const BIG_ACTORS: usize = 100;
pub const FAN: usize = 64;
pub const CHAIN: usize = 1000;
pub const CONTENDERS: usize = 8;
pub const WORKERS: usize = 8;
pub const JOB_STEPS: usize = 4000;
pub const CHILDREN: usize = 10;
pub const ASKERS: usize = 100;
pub const BATCH: usize = 100;
/// How many coroutines take turns.
pub const CROWDS: [usize; 7] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];
/// How many produce and how many consume.
pub const GRID: [usize; 4] = [1, 4, 16, 64];

/// Numbers that look random and are the same in all programs.
pub struct Xorshift(u64);

impl Xorshift {
    pub fn new(seed: usize) -> Self {
        Xorshift(88172645463325252u64.wrapping_add((seed as u64).wrapping_mul(2654435761)))
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// What a worker makes of a number: some microseconds of arithmetic.
pub fn job(number: usize) -> i64 {
    let mut random = Xorshift::new(number);
    for _ in 1..JOB_STEPS {
        random.next();
    }
    (random.next() % 1024) as i64
}

pub fn sleeps(count: usize) -> Vec<u64> {
    let mut random = Xorshift::new(0);
    (0..count).map(|_| 1 + random.next() % 1000).collect()
}

pub fn file_path(kind: &str, number: usize) -> String {
    let folder = std::env::var("BENCHMARK_FILES").unwrap_or_else(|_| {
        eprintln!("BENCHMARK_FILES names no folder of files; run this row by compare");
        std::process::exit(64)
    });
    let count = if kind == "256k" { 256 } else { 16 };
    format!("{folder}/{kind}-{}", number % count)
}

/// Resident pages and page tables, in bytes.
pub fn memory() -> (f64, f64) {
    let (mut resident, mut tables) = (0.0, 0.0);
    for line in std::fs::read_to_string("/proc/self/status").unwrap_or_default().lines() {
        let mut fields = line.split_whitespace();
        let name = fields.next();
        let bytes = fields.next().and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) * 1024.0;
        match name {
            Some("VmRSS:") => resident = bytes,
            Some("VmPTE:") => tables = bytes,
            _ => {}
        }
    }
    (resident, tables)
}
