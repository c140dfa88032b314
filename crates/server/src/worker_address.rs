//! The address under which a process that reads the stream registers, for the processes that receive its
//! changes.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use crate::configuration::{ProcessRole, ProcessSettings};

/// An address beyond this network, reserved for documentation. Nothing is sent to it.
const ELSEWHERE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 9);

/// Returns the address of this process, which listens at `url`; `None` if it reads no stream or if the
/// address is unknown.
pub(crate) fn worker_address(process: &ProcessSettings, url: &str) -> Option<String> {
    if process.role == ProcessRole::Api {
        return None;
    }
    if let Some(configured) = &process.live.worker_url {
        return Some(configured.clone());
    }
    let listen = process.http.listen;
    if !listen.ip().is_unspecified() {
        return Some(url.to_owned());
    }
    let Some(address) = address_of_this_machine() else {
        tracing::warn!(
            "live.worker-url: this machine has no address that other processes could reach; set it if there \
             are any, or list this process in their `live.workers`"
        );
        return None;
    };
    let (scheme, rest) = url.split_once("://")?;
    let (_, port) = rest.rsplit_once(':')?;
    let address = format!("{scheme}://{address}:{port}");
    tracing::info!(
        address,
        "other processes reach this worker here, unless live.worker-url is set"
    );
    Some(address)
}

/// The address from which this machine would send to another network.
fn address_of_this_machine() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect(ELSEWHERE).ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_unspecified() && !address.is_loopback()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(change: impl FnOnce(&mut ProcessSettings)) -> ProcessSettings {
        let mut settings = ProcessSettings { role: ProcessRole::Worker, ..Default::default() };
        change(&mut settings);
        settings
    }

    #[test]
    fn a_worker_is_reached_where_it_listens_unless_another_address_is_configured() {
        let url = "http://10.0.0.7:4000";
        let listens = |settings: &mut ProcessSettings| {
            settings.http.listen = "10.0.0.7:4000".parse().unwrap();
        };
        assert_eq!(worker_address(&settings(listens), url).as_deref(), Some(url));
        let configured = settings(|settings| {
            listens(settings);
            settings.live.worker_url = Some(String::from("https://worker-7"));
        });
        assert_eq!(worker_address(&configured, url).as_deref(), Some("https://worker-7"));
        let api = settings(|settings| settings.role = ProcessRole::Api);
        assert_eq!(worker_address(&api, url), None, "it reads nothing");
    }

    #[test]
    fn a_worker_that_listens_everywhere_is_not_reached_at_the_loopback_address() {
        let everywhere = settings(|settings| {
            settings.http.listen = "0.0.0.0:4000".parse().unwrap();
        });
        let found = worker_address(&everywhere, "http://127.0.0.1:4000");
        assert!(
            found
                .is_none_or(|address| !address.contains("127.0.0.1") && address.ends_with(":4000"))
        );
    }
}
