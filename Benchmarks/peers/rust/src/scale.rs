// SPDX-License-Identifier: Apache-2.0

use crate::harness::{Outcome, Stopwatch};
use crate::inputs::{file_path, memory, sleeps as lengths};
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::yield_now;

pub async fn sleeps(count: usize) -> Outcome {
    let lengths = lengths(count);
    let mut sleepers = Vec::with_capacity(count);
    for (number, &length) in lengths.iter().enumerate() {
        sleepers.push(tokio::spawn(async move {
            let start = Instant::now();
            tokio::time::sleep(Duration::from_millis(length)).await;
            start.elapsed().as_nanos() as i64 - length as i64 * 1_000_000
        }));
        if number % 1024 == 1023 {
            yield_now().await;
        }
    }
    let mut overshoot = Vec::with_capacity(count);
    for sleeper in sleepers {
        overshoot.push(sleeper.await.unwrap());
    }
    let mut outcome = Outcome::from(lengths.iter().sum::<u64>() as i64);
    outcome.add_overshoot(overshoot);
    outcome
}

/// From the first cancellation until all have ended.
pub async fn cancellation(count: usize) -> Outcome {
    let asleep = Arc::new(AtomicI64::new(0));
    let making = Stopwatch::start();
    let sleepers: Vec<_> = (0..count)
        .map(|_| {
            let asleep = asleep.clone();
            tokio::spawn(async move {
                asleep.fetch_add(1, Relaxed);
                tokio::time::sleep(Duration::from_secs(3600)).await;
            })
        })
        .collect();
    while asleep.load(Relaxed) < count as i64 {
        yield_now().await;
    }
    let made = making.elapsed();
    let stopwatch = Stopwatch::start();
    for sleeper in &sleepers {
        sleeper.abort();
    }
    let mut ended = 0;
    for sleeper in sleepers {
        if sleeper.await.is_err() {
            ended += 1;
        }
    }
    Outcome {
        result: ended,
        elapsed: Some(stopwatch.elapsed()),
        extras: vec![("create_ns".into(), made.wall / count as f64)],
    }
}

/// The time is that of making them; their end is an extra.
pub async fn idle(count: usize) -> Outcome {
    let asleep = Arc::new(AtomicI64::new(0));
    let ended = Arc::new(AtomicI64::new(0));
    let gate = Arc::new(tokio::sync::Notify::new());
    let (resident, tables) = memory();
    let stopwatch = Stopwatch::start();
    for _ in 0..count {
        let (asleep, ended, gate) = (asleep.clone(), ended.clone(), gate.clone());
        tokio::spawn(async move {
            let notified = gate.notified();
            asleep.fetch_add(1, Relaxed);
            notified.await;
            ended.fetch_add(1, Relaxed);
        });
    }
    while asleep.load(Relaxed) < count as i64 {
        yield_now().await;
    }
    let elapsed = stopwatch.elapsed();
    let (resident_after, tables_after) = memory();
    let ending = Stopwatch::start();
    gate.notify_waiters();
    while ended.load(Relaxed) < count as i64 {
        yield_now().await;
    }
    let each = |bytes: f64| bytes / count as f64;
    let (resident, tables) = (each(resident_after - resident), each(tables_after - tables));
    Outcome {
        result: ended.load(Relaxed),
        elapsed: Some(elapsed),
        extras: vec![
            ("bytes".into(), resident + tables),
            ("rss_bytes".into(), resident),
            ("pte_bytes".into(), tables),
            ("end_ns".into(), ending.elapsed().wall / count as f64),
        ],
    }
}

/// Work on a thread for blocking work, one piece after the other.
pub async fn offload(count: usize) -> i64 {
    tokio::spawn(async move {
        let mut sum = 0;
        for number in 0..count as i64 {
            sum += tokio::task::spawn_blocking(move || number).await.unwrap();
        }
        sum
    })
    .await
    .unwrap()
}

/// A task for each file; tokio reads files on threads for blocking work.
pub async fn read(kind: &'static str, count: usize) -> i64 {
    let readers: Vec<_> = (0..count)
        .map(|number| {
            tokio::spawn(async move {
                let bytes = tokio::fs::read(file_path(kind, number)).await.unwrap();
                bytes.len() as i64 + i64::from(*bytes.last().unwrap())
            })
        })
        .collect();
    let mut sum = 0;
    for reader in readers {
        sum += reader.await.unwrap();
    }
    sum
}

/// So many tasks that yield in turn, from when all have begun until all have ended.
pub async fn crowd(size: usize, count: usize) -> Outcome {
    let rounds = (count / size).max(1);
    let begun = Arc::new(AtomicI64::new(0));
    let watch = Arc::new(std::sync::Mutex::new(None::<Stopwatch>));
    let mut crowd = Vec::with_capacity(size);
    for _ in 0..size {
        let (begun, watch) = (begun.clone(), watch.clone());
        crowd.push(tokio::spawn(async move {
            if begun.fetch_add(1, Relaxed) + 1 == size as i64 {
                *watch.lock().unwrap() = Some(Stopwatch::start());
            }
            let mut yields = 0;
            for _ in 0..rounds {
                yield_now().await;
                yields += 1;
            }
            yields
        }));
    }
    let mut yields = 0;
    for one in crowd {
        yields += one.await.unwrap();
    }
    let elapsed = watch.lock().unwrap().as_ref().unwrap().elapsed();
    Outcome { result: yields, elapsed: Some(elapsed), extras: vec![] }
}
