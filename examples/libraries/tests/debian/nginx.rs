//! nginx behind the example `proxy`.

use super::program::find;
use super::server::Server;
use crate::support::Running;
use std::fs;
use std::path::Path;
use std::process::Command;

const PAGES: usize = 20;

/// Up to 60 KB: the proxy looks for ten thousand names in each.
fn page(n: usize) -> String {
    format!("page {n}, line\n").repeat(200 * n + 1)
}

fn prepare(dir: &Path) {
    fs::create_dir(dir.join("pages")).unwrap();
    for n in 0..PAGES {
        fs::write(dir.join(format!("pages/{n}.txt")), page(n)).unwrap();
    }
}

/// A new server of these pages, if it is installed.
fn server() -> Option<Server> {
    find("nginx", "nginx-light")?;
    Some(Server::new("TERM", prepare, |dir, port| {
        let here = dir.display();
        let config = format!(
            "daemon off; master_process off; pid {here}/pid; error_log stderr;
             events {{ worker_connections 64; }}
             http {{
                 access_log off;
                 client_body_temp_path {here}/body; proxy_temp_path {here}/proxy;
                 fastcgi_temp_path {here}/fastcgi; uwsgi_temp_path {here}/uwsgi; scgi_temp_path {here}/scgi;
                 server {{ listen 127.0.0.1:{port}; root {here}/pages; }}
             }}"
        );
        fs::write(dir.join("config"), config).unwrap();
        let mut nginx = Command::new(find("nginx", "nginx-light").unwrap());
        nginx.arg("-p").arg(dir).arg("-c").arg(dir.join("config"));
        nginx
    }))
}

#[test]
fn the_proxy_relays_what_nginx_has() {
    let (Some(curl), Some(mut server)) = (find("curl", "curl"), server()) else { return };
    for coloring in ["serial", "parse", "full"] {
        let proxy = Running::proxy(coloring);
        let get = |page: &str| {
            let mut curl = Command::new(&curl);
            let url = format!("http://{}/{page}", server.addr());
            let output =
                curl.args(["--silent", "--include", "--proxy", &proxy.url(""), &url]).output();
            String::from_utf8(output.unwrap().stdout).unwrap()
        };
        for n in 0..PAGES {
            let answer = get(&format!("{n}.txt"));
            let (head, body) = answer.split_once("\r\n\r\n").expect(&answer);
            assert!(head.contains(" 200 ") && head.contains("nginx"), "{head}");
            assert!(body == page(n), "page {n} has {} bytes", body.len());
        }
        assert!(get("none.txt").contains(" 404 "));
    }
    let proxy = Running::proxy("full");
    server.stop();
    let mut curl = Command::new(&curl);
    let url = format!("http://{}/0.txt", server.addr());
    let output = curl.args(["--silent", "--include", "--proxy", &proxy.url(""), &url]).output();
    let answer = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(answer.contains(" 502 "), "{answer}");
}
