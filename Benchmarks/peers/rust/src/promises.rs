// SPDX-License-Identifier: Apache-2.0

use crate::harness::on_one;
use crate::inputs::{Xorshift, ASKERS, BIG_ACTORS, CHAIN};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use tokio::sync::{mpsc, oneshot};
use tokio::task::yield_now;

pub async fn settled(count: usize) -> i64 {
    tokio::spawn(async move {
        let mut sum = 0;
        for number in 0..count as i64 {
            let (promise, value) = oneshot::channel();
            promise.send(number).unwrap();
            sum += value.await.unwrap();
        }
        sum
    })
    .await
    .unwrap()
}

/// Each question brings a oneshot channel for its answer; who answers has a thread and a runtime of its own.
pub async fn replies(count: usize) -> i64 {
    let (questions, mut asked) = mpsc::channel::<(i64, oneshot::Sender<i64>)>(128);
    std::thread::spawn(move || {
        on_one(async move {
            let server = tokio::spawn(async move {
                while let Some((number, answer)) = asked.recv().await {
                    answer.send(number + 1).unwrap();
                }
            });
            server.await.unwrap()
        })
    });
    let askers: Vec<_> = (0..ASKERS)
        .map(|asker| {
            let questions = questions.clone();
            tokio::spawn(async move {
                let mut sum = 0;
                for number in (asker..count).step_by(ASKERS) {
                    let (promise, answer) = oneshot::channel();
                    questions.send((number as i64, promise)).await.unwrap();
                    sum += answer.await.unwrap();
                }
                sum
            })
        })
        .collect();
    let mut sum = 0;
    for asker in askers {
        sum += asker.await.unwrap();
    }
    sum
}

/// One makes a promise and parks; the other settles it and yields.
pub async fn parked(count: usize) -> i64 {
    let slot = Arc::new(Mutex::new(None::<oneshot::Sender<i64>>));
    let over = Arc::new(AtomicBool::new(false));
    {
        let (slot, over) = (slot.clone(), over.clone());
        tokio::spawn(async move {
            let mut number = 0;
            while !over.load(Relaxed) {
                let promise = slot.lock().unwrap().take();
                if let Some(promise) = promise {
                    promise.send(number).unwrap();
                    number += 1;
                }
                yield_now().await;
            }
        });
    }
    tokio::spawn(async move {
        let mut sum = 0;
        for _ in 0..count {
            let (promise, value) = oneshot::channel();
            *slot.lock().unwrap() = Some(promise);
            sum += value.await.unwrap();
        }
        over.store(true, Relaxed);
        sum
    })
    .await
    .unwrap()
}

/// A link is a task that waits for the one before it.
pub async fn chain(count: usize) -> i64 {
    tokio::spawn(async move {
        let mut sum = 0;
        for start in (0..count).step_by(CHAIN) {
            let (head, mut last) = oneshot::channel::<i64>();
            for _ in start..(start + CHAIN).min(count) {
                let (promise, next) = oneshot::channel();
                tokio::spawn(async move { promise.send(last.await.unwrap() + 1).unwrap() });
                last = next;
            }
            head.send(0).unwrap();
            sum += last.await.unwrap();
        }
        sum
    })
    .await
    .unwrap()
}

/// An actor is a task with a channel of requests.
pub async fn ask(count: usize) -> i64 {
    let (send, mut requests) = mpsc::channel::<(i64, oneshot::Sender<i64>)>(16);
    tokio::spawn(async move {
        let mut total = 0;
        while let Some((number, reply)) = requests.recv().await {
            total += number;
            reply.send(total).unwrap();
        }
    });
    tokio::spawn(async move {
        let mut last = 0;
        for _ in 0..count {
            let (reply, answer) = oneshot::channel();
            send.send((1, reply)).await.unwrap();
            last = answer.await.unwrap();
        }
        last
    })
    .await
    .unwrap()
}

enum Ball {
    Ping(usize),
    Pong,
    Stop,
}

pub async fn big(count: usize) -> i64 {
    let (sends, receives): (Vec<_>, Vec<_>) =
        (0..BIG_ACTORS).map(|_| mpsc::unbounded_channel::<Ball>()).unzip();
    let sends = Arc::new(sends);
    let handled = Arc::new(AtomicI64::new(0));
    let playing = Arc::new(AtomicI64::new(BIG_ACTORS as i64));
    let players: Vec<_> = receives
        .into_iter()
        .enumerate()
        .map(|(number, mut mailbox)| {
            let (sends, handled, playing) = (sends.clone(), handled.clone(), playing.clone());
            tokio::spawn(async move {
                let mut left =
                    count / BIG_ACTORS + if number < count % BIG_ACTORS { 1 } else { 0 };
                let mut random = Xorshift::new(number);
                let mut mine = 0;
                let mut ping_next = || {
                    if left > 0 {
                        left -= 1;
                        let target = (random.next() % BIG_ACTORS as u64) as usize;
                        sends[target].send(Ball::Ping(number)).unwrap_or(());
                    } else if playing.fetch_sub(1, Relaxed) == 1 {
                        for player in sends.iter() {
                            player.send(Ball::Stop).unwrap_or(());
                        }
                    }
                };
                ping_next();
                while let Some(ball) = mailbox.recv().await {
                    match ball {
                        Ball::Ping(from) => {
                            mine += 1;
                            sends[from].send(Ball::Pong).unwrap_or(());
                        }
                        Ball::Pong => ping_next(),
                        Ball::Stop => break,
                    }
                }
                handled.fetch_add(mine, Relaxed);
            })
        })
        .collect();
    for player in players {
        player.await.unwrap();
    }
    handled.load(Relaxed)
}
