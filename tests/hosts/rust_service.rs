// SPDX-License-Identifier: MIT
//
// rust_service.rs - a Rust program under load; its page must show demangled names.
//
// Works until its stdin ends; prints "ready" first. Nothing but the standard library.
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};

// std::hint::black_box needs a newer compiler than Debian 12's.
#[inline(never)]
fn black_box<T>(value: T) {
    unsafe { std::ptr::read_volatile(&value as *const T as *const u8) };
}

static STOP: AtomicBool = AtomicBool::new(false);

mod cache {
    pub struct Entry {
        pub key: [u8; 120],
    }

    #[inline(never)]
    pub fn make_entry(n: u8) -> Box<Entry> {
        Box::new(Entry { key: [n; 120] })
    }

    #[inline(never)]
    pub fn make_list(n: usize) -> Vec<u64> {
        let mut list = Vec::with_capacity(n);
        list.push(n as u64);
        list
    }
}

fn main() {
    println!("ready");
    std::io::stdout().flush().unwrap();
    let worker = std::thread::Builder::new()
        .name("rust-worker".to_string())
        .spawn(|| {
            while !STOP.load(Ordering::Relaxed) {
                for i in 0..100 {
                    black_box(cache::make_entry(i).key[0]);
                    black_box(cache::make_list(30 + i as usize));
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        })
        .unwrap();
    let mut rest = Vec::new();
    std::io::stdin().read_to_end(&mut rest).unwrap();
    STOP.store(true, Ordering::Relaxed);
    worker.join().unwrap();
}
