// SPDX-License-Identifier: Apache-2.0

mod channels;
mod harness;
mod inputs;
mod promises;
mod scale;
mod tasks;

use harness::{beside_two, on_one, on_two, program, row};

fn main() {
    let mut rows = vec![
        row("yield", |n| on_one(tasks::yields(n))),
        row("launch-join", |n| on_one(tasks::joins(n))),
        row("launch", |n| on_one(tasks::launches(n))),
        row("scope", |n| on_one(tasks::scopes(n))),
        row("launch-2", |n| on_two(tasks::groups(n))),
        row("launch-pool", |n| beside_two(tasks::batches(n))),
        row("workers", |n| on_two(channels::jobs(n))).note("a receiver behind a mutex"),
        row("reply-2", |n| on_one(promises::replies(n))),
        row("skynet", |n| on_one(tasks::skynet(n))).operations(1_000_000).warm(),
        row("skynet-2", |n| on_two(tasks::skynet(n))).operations(1_000_000).warm(),
        row("mutex", |n| on_one(tasks::mutex(n))),
        row("handover", |n| on_one(channels::send(n, 1))).note("room for one: no unbuffered channel"),
        row("handover-pair", |n| on_two(channels::send(n, 1)))
            .note("room for one: no unbuffered channel"),
        row("buffered128", |n| on_one(channels::send(n, 128))),
        row("buffered128-4x4", |n| on_two(channels::four_by_one(n))).note("one consumer"),
        row("fan-in", |n| on_one(channels::fan_in(n))).note("room for one: no unbuffered channel"),
        row("select4", |n| on_one(channels::select_one(n))),
        row("select4-default", |n| on_one(channels::select_none(n))),
        row("thread-ring", |n| on_one(channels::thread_ring(n)))
            .note("room for one: no unbuffered channel"),
        row("chameneos", |n| on_one(channels::chameneos(n)))
            .note("room for one: no unbuffered channel"),
        row("promise", |n| on_one(promises::settled(n))),
        row("promise-park", |n| on_one(promises::parked(n))),
        row("promise-chain", |n| on_one(promises::chain(n))),
        row("ask", |n| on_one(promises::ask(n))),
        row("big", |n| on_one(promises::big(n))),
        row("timers", |n| on_one(scale::sleeps(n))).operations(100_000),
        row("cancel-sleepers", |n| on_one(scale::cancellation(n))).operations(100_000),
        row("idle", |n| on_one(scale::idle(n))).operations(1_000_000).note("stackless"),
        row("offload", |n| on_one(scale::offload(n))),
        row("read-256k", |n| on_two(scale::read("256k", n))).operations(256).warm(),
        row("read-20m", |n| on_two(scale::read("20m", n))).operations(16).warm(),
    ];
    for size in inputs::CROWDS {
        let crowd = row(format!("crowd-{size}"), move |n| on_one(scale::crowd(size, n)));
        rows.push(crowd.operations(1_000_000.max(10 * size)));
    }
    for producers in inputs::GRID {
        rows.push(row(format!("grid-{producers}x1"), move |n| on_one(channels::grid(producers, n))));
    }
    program(rows);
}
