// SPDX-License-Identifier: Apache-2.0

use crate::inputs::{BATCH, CHILDREN, CONTENDERS};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio::task::{yield_now, JoinSet};

pub async fn yields(count: usize) -> i64 {
    let over = Arc::new(AtomicBool::new(false));
    let theirs = {
        let over = over.clone();
        tokio::spawn(async move {
            while !over.load(Relaxed) {
                yield_now().await;
            }
        })
    };
    let mine = tokio::spawn(async move {
        for _ in 0..count / 2 {
            yield_now().await;
        }
        over.store(true, Relaxed);
    });
    mine.await.unwrap();
    theirs.await.unwrap();
    (count / 2) as i64
}

pub async fn joins(count: usize) -> i64 {
    // In a task: what `block_on` polls itself is woken in a slower way.
    tokio::spawn(async move {
        let mut sum = 0;
        for number in 0..count as i64 {
            sum += tokio::spawn(async move { number }).await.unwrap();
        }
        sum
    })
    .await
    .unwrap()
}

pub async fn batches(count: usize) -> i64 {
    let mut sum = 0;
    for start in (0..count).step_by(BATCH) {
        let launched: Vec<_> = (start..(start + BATCH).min(count))
            .map(|number| tokio::spawn(async move { number as i64 }))
            .collect();
        for task in launched {
            sum += task.await.unwrap();
        }
    }
    sum
}

pub async fn launches(count: usize) -> i64 {
    tokio::spawn(async move {
        let ended = Arc::new(AtomicI64::new(0));
        for start in (0..count).step_by(1000) {
            let stop = (start + 1000).min(count);
            for _ in start..stop {
                let ended = ended.clone();
                tokio::spawn(async move {
                    ended.fetch_add(1, Relaxed);
                });
            }
            while ended.load(Relaxed) < stop as i64 {
                yield_now().await;
            }
        }
        ended.load(Relaxed)
    })
    .await
    .unwrap()
}

pub async fn scopes(count: usize) -> i64 {
    tokio::spawn(async move {
        let mut sum = 0;
        for start in (0..count).step_by(CHILDREN) {
            let mut scope = JoinSet::new();
            for number in start..(start + CHILDREN).min(count) {
                scope.spawn(async move {
                    yield_now().await;
                    number as i64
                });
            }
            while let Some(value) = scope.join_next().await {
                sum += value.unwrap();
            }
        }
        sum
    })
    .await
    .unwrap()
}

pub async fn groups(count: usize) -> i64 {
    let ended = Arc::new(AtomicI64::new(0));
    for start in (0..count).step_by(1000) {
        let mut scope = JoinSet::new();
        for _ in start..(start + 1000).min(count) {
            let ended = ended.clone();
            scope.spawn(async move {
                ended.fetch_add(1, Relaxed);
            });
        }
        while scope.join_next().await.is_some() {}
    }
    ended.load(Relaxed)
}

fn skynet_node(first: i64, size: i64) -> Pin<Box<dyn Future<Output = i64> + Send>> {
    Box::pin(async move {
        if size == 1 {
            return first;
        }
        let part = size / 10;
        let children: Vec<_> = (0..10)
            .map(|number| tokio::spawn(skynet_node(first + number * part, part)))
            .collect();
        let mut sum = 0;
        for child in children {
            sum += child.await.unwrap();
        }
        sum
    })
}

pub async fn skynet(leaves: usize) -> i64 {
    let mut size = 1;
    while size * 10 <= leaves as i64 {
        size *= 10;
    }
    tokio::spawn(skynet_node(0, size)).await.unwrap()
}

/// Everybody yields with the mutex held, so that it always has waiters.
pub async fn mutex(count: usize) -> i64 {
    let total = Arc::new(Mutex::new(0));
    let contenders: Vec<_> = (0..CONTENDERS)
        .map(|contender| {
            let total = total.clone();
            tokio::spawn(async move {
                for _ in (contender..count).step_by(CONTENDERS) {
                    let mut total = total.lock().await;
                    *total += 1;
                    yield_now().await;
                }
            })
        })
        .collect();
    for contender in contenders {
        contender.await.unwrap();
    }
    let total = *total.lock().await;
    total
}
