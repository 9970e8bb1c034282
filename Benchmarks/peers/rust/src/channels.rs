// SPDX-License-Identifier: Apache-2.0

use crate::inputs::{job, CREATURES, FAN, RING, WORKERS};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, Mutex};

async fn sum_of(mut numbers: mpsc::Receiver<i64>) -> i64 {
    let mut sum = 0;
    while let Some(number) = numbers.recv().await {
        sum += number;
    }
    sum
}

async fn produce(send: mpsc::Sender<i64>, first: usize, count: usize, step: usize) {
    for number in (first..count).step_by(step) {
        send.send(number as i64).await.unwrap();
    }
}

pub async fn send(count: usize, capacity: usize) -> i64 {
    let (send, numbers) = mpsc::channel(capacity);
    tokio::spawn(produce(send, 0, count, 1));
    tokio::spawn(sum_of(numbers)).await.unwrap()
}

pub async fn four_by_one(count: usize) -> i64 {
    grid(4, count).await
}

/// So many producers and one consumer: more a channel of tokio's does not allow.
pub async fn grid(producers: usize, count: usize) -> i64 {
    let (send, numbers) = mpsc::channel(128);
    for producer in 0..producers {
        tokio::spawn(produce(send.clone(), producer, count, producers));
    }
    drop(send);
    tokio::spawn(sum_of(numbers)).await.unwrap()
}

/// Workers that have begun before there is anything to do.
pub async fn jobs(count: usize) -> i64 {
    let (send, numbers) = mpsc::channel(128);
    let (begin, mut began) = mpsc::channel(1);
    let numbers: Arc<Mutex<mpsc::Receiver<i64>>> = Arc::new(Mutex::new(numbers));
    let workers: Vec<_> = (0..WORKERS)
        .map(|_| {
            let (numbers, begin) = (numbers.clone(), begin.clone());
            tokio::spawn(async move {
                begin.send(()).await.unwrap();
                let mut sum = 0;
                loop {
                    // The mutex is let go of before the work.
                    let number = numbers.lock().await.recv().await;
                    match number {
                        Some(number) => sum += job(number as usize),
                        None => return sum,
                    }
                }
            })
        })
        .collect();
    for _ in 0..WORKERS {
        began.recv().await;
    }
    tokio::spawn(produce(send, 0, count, 1));
    let mut sum = 0;
    for worker in workers {
        sum += worker.await.unwrap();
    }
    sum
}

pub async fn fan_in(count: usize) -> i64 {
    let (send, numbers) = mpsc::channel(1);
    for producer in 0..FAN {
        tokio::spawn(produce(send.clone(), producer, count, FAN));
    }
    drop(send);
    tokio::spawn(sum_of(numbers)).await.unwrap()
}

/// The four take turns to be the one that is ready.
pub async fn select_one(count: usize) -> i64 {
    tokio::spawn(async move {
        let (send_a, mut a) = mpsc::channel::<i64>(1);
        let (send_b, mut b) = mpsc::channel::<i64>(1);
        let (send_c, mut c) = mpsc::channel::<i64>(1);
        let (send_d, mut d) = mpsc::channel::<i64>(1);
        let all = [send_a, send_b, send_c, send_d];
        let mut sum = 0;
        for number in 0..count {
            all[number % 4].try_send(number as i64).unwrap();
            sum += tokio::select! {
                Some(value) = a.recv() => value,
                Some(value) = b.recv() => value,
                Some(value) = c.recv() => value,
                Some(value) = d.recv() => value,
                else => 0,
            };
        }
        sum
    })
    .await
    .unwrap()
}

/// A branch that is always ready, looked at last, is the default.
pub async fn select_none(count: usize) -> i64 {
    tokio::spawn(async move {
        let (_send_a, mut a) = mpsc::channel::<i64>(1);
        let (_send_b, mut b) = mpsc::channel::<i64>(1);
        let (_send_c, mut c) = mpsc::channel::<i64>(1);
        let (_send_d, mut d) = mpsc::channel::<i64>(1);
        let mut none = 0;
        for _ in 0..count {
            none += tokio::select! {
                biased;
                Some(value) = a.recv() => value,
                Some(value) = b.recv() => value,
                Some(value) = c.recv() => value,
                Some(value) = d.recv() => value,
                _ = std::future::ready(()) => 1,
            };
        }
        none
    })
    .await
    .unwrap()
}

pub async fn thread_ring(hops: usize) -> i64 {
    let (sends, receives): (Vec<_>, Vec<_>) = (0..RING).map(|_| mpsc::channel::<usize>(1)).unzip();
    let (last, mut winner) = mpsc::channel(1);
    for (number, mut tokens) in receives.into_iter().enumerate() {
        let next = sends[(number + 1) % RING].clone();
        let last = last.clone();
        tokio::spawn(async move {
            while let Some(token) = tokens.recv().await {
                if token > 0 {
                    next.send(token - 1).await.unwrap();
                } else {
                    last.send(number as i64).await.unwrap();
                }
            }
        });
    }
    // The tasks hold one another's channels open, and end with their runtime.
    tokio::spawn(async move {
        sends[0].send(hops).await.unwrap();
        winner.recv().await.unwrap()
    })
    .await
    .unwrap()
}

struct Visit {
    colour: i64,
    answer: oneshot::Sender<i64>,
}

pub async fn chameneos(meetings: usize) -> i64 {
    let (send, mut mall) = mpsc::channel::<Visit>(1);
    let creatures: Vec<_> = (0..CREATURES)
        .map(|creature| {
            let mall = send.clone();
            tokio::spawn(async move {
                let (mut colour, mut met) = (creature as i64 % 3, 0);
                loop {
                    let (answer, answered) = oneshot::channel();
                    if mall.send(Visit { colour, answer }).await.is_err() {
                        return met;
                    }
                    let Ok(other) = answered.await else { return met };
                    if other != colour {
                        colour = 3 - colour - other;
                    }
                    met += 1;
                }
            })
        })
        .collect();
    tokio::spawn(async move {
        for _ in 0..meetings {
            let (one, other) = (mall.recv().await.unwrap(), mall.recv().await.unwrap());
            one.answer.send(other.colour).unwrap();
            other.answer.send(one.colour).unwrap();
        }
        // Those who still come find the mall closed.
        drop(mall);
    });
    let mut sum = 0;
    for creature in creatures {
        sum += creature.await.unwrap();
    }
    sum
}
