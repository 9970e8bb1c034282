// SPDX-License-Identifier: Apache-2.0

use std::future::Future;
use std::time::Instant;

/// What a run came to.
pub struct Outcome {
    pub result: i64,
    /// The time that counts, if it is not that of the whole body.
    pub elapsed: Option<Elapsed>,
    pub extras: Vec<(String, f64)>,
}

impl From<i64> for Outcome {
    fn from(result: i64) -> Self {
        Outcome { result, elapsed: None, extras: vec![] }
    }
}

impl Outcome {
    pub fn add_overshoot(&mut self, mut nanoseconds: Vec<i64>) {
        nanoseconds.sort_unstable();
        let at = |index: usize| nanoseconds[index] as f64 / 1000.0;
        let count = nanoseconds.len();
        self.extras.push(("p50_us".into(), at(count / 2)));
        self.extras.push(("p99_us".into(), at(count * 99 / 100)));
        self.extras.push(("max_us".into(), at(count - 1)));
        // How many of a whole are at most 1, 2, 4, … µs.
        for power in 0..=20 {
            let limit = 1000i64 << power;
            let share = nanoseconds.partition_point(|&one| one <= limit) as f64 / count as f64;
            self.extras.push((format!("le_{}_us", 1 << power), share));
        }
    }
}

/// A time in nanoseconds: on the clock at the wall, and of all processors.
pub struct Elapsed {
    pub wall: f64,
    pub cpu: f64,
}

pub struct Stopwatch {
    wall: Instant,
    cpu: f64,
}

impl Stopwatch {
    pub fn start() -> Self {
        Stopwatch { wall: Instant::now(), cpu: processor_time() }
    }

    pub fn elapsed(&self) -> Elapsed {
        Elapsed {
            wall: self.wall.elapsed().as_nanos() as f64,
            cpu: processor_time() - self.cpu,
        }
    }
}

fn processor_time() -> f64 {
    #[repr(C)]
    struct Timespec {
        seconds: i64,
        nanoseconds: i64,
    }
    extern "C" {
        fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
    }
    const PROCESS_CPUTIME: i32 = 2;
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the structure is that of 64-bit Linux and outlives the call.
    unsafe { clock_gettime(PROCESS_CPUTIME, &mut time) };
    time.seconds as f64 * 1e9 + time.nanoseconds as f64
}

/// One benchmark; without a number of operations it finds out how many take 0.3 s.
pub struct Row {
    name: String,
    body: Box<dyn Fn(usize) -> Outcome>,
    operations: Option<usize>,
    warms_up: bool,
    note: Option<&'static str>,
}

pub fn row<R: Into<Outcome>>(name: impl Into<String>, body: impl Fn(usize) -> R + 'static) -> Row {
    Row {
        name: name.into(),
        body: Box::new(move |count| body(count).into()),
        operations: None,
        warms_up: true,
        note: None,
    }
}

impl Row {
    pub fn operations(mut self, count: usize) -> Row {
        self.operations = Some(count);
        self.warms_up = false;
        self
    }

    pub fn warm(mut self) -> Row {
        self.warms_up = true;
        self
    }

    pub fn note(mut self, note: &'static str) -> Row {
        self.note = Some(note);
        self
    }

    fn calibrate(&self) -> usize {
        let mut count = 100;
        loop {
            let watch = Stopwatch::start();
            (self.body)(count);
            let wall = watch.elapsed().wall;
            if wall > 3e7 {
                return ((count as f64 * 3e8 / wall) as usize).max(1);
            }
            count *= 10;
        }
    }
}

/// Runs a future on this thread.
pub fn on_one<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // What is not spawned is polled in another way: everything is.
    runtime.block_on(future)
}

/// Runs a future on a runtime of two threads.
pub fn on_two<F>(future: F) -> F::Output
where
    F: Future + Send + 'static,
    F::Output: Send,
{
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    // On one of the two threads, not beside them.
    runtime.block_on(async { tokio::spawn(future).await.unwrap() })
}

/// The same, on the calling thread beside the two.
pub fn beside_two<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    std::process::exit(64)
}

pub fn program(rows: Vec<Row>) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (name, told) = match arguments[..] {
        ["list"] => {
            for row in rows {
                println!("{}", row.name);
            }
            return;
        }
        [name] => (name, None),
        [name, "--operations", number] => match number.parse::<usize>() {
            Ok(number) if number > 0 => (name, Some(number)),
            _ => fail("--operations needs a number of 1 or more"),
        },
        _ => fail("usage: tokio list | ROW [--operations N]"),
    };
    let Some(row) = rows.into_iter().find(|row| row.name == name) else {
        fail("no such row");
    };
    let count = match told.or(row.operations) {
        None => row.calibrate(),
        Some(count) => {
            if row.warms_up {
                (row.body)((count / 10).max(1));
            }
            count
        }
    };
    let watch = Stopwatch::start();
    let outcome = (row.body)(count);
    let elapsed = outcome.elapsed.unwrap_or_else(|| watch.elapsed());
    let mut line = format!(
        "{{\"row\": \"{}\", \"peer\": \"tokio\", \"operations\": {count}, \"ns\": {}, \
         \"cpu_ns\": {}, \"result\": {}",
        row.name,
        elapsed.wall / count as f64,
        elapsed.cpu / count as f64,
        outcome.result
    );
    for (name, value) in outcome.extras {
        line += &format!(", \"{name}\": {value}");
    }
    if let Some(note) = row.note {
        line += &format!(", \"note\": \"{note}\"");
    }
    println!("{line}}}");
}
