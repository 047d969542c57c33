import { origin } from "../../config/listen.ts";
import { catalog, template } from "../../message.ts";

const place = { host: "127.0.0.1", port: 8787 };

const cannotListen = (host: string, port: number): string =>
  `server.listen: the status page can't listen on ${origin(host, port)}:`;

export const pageMessages = catalog("page", {
  no_news: "the status page could not tell how things stand",
  no_connection: "the status page could not take a connection",
  no_answer: "the status page could not answer",
  wrong_login: "the status page was asked with a wrong token or login",
  port_taken: template(
    place,
    ({ host, port }) =>
      `${cannotListen(host, port)} another program has that port, perhaps another tributary. End it, or set server.listen to another port, such as ${origin(host, port === 65_535 ? port - 1 : port + 1)}.`,
  ),
  port_forbidden: template(
    { ...place, port: 80 },
    ({ host, port }) =>
      `${cannotListen(host, port)} this user may not take that port. Set server.listen to a port from 1024 up.`,
  ),
  foreign_address: template(
    { ...place, host: "192.0.2.1" },
    ({ host, port }) =>
      `${cannotListen(host, port)} this machine has no such address. Set server.listen to one that it has, such as 127.0.0.1:8787.`,
  ),
  unknown_host: template(
    { ...place, host: "etl" },
    ({ host, port }) =>
      `${cannotListen(host, port)} there is no host of that name. Set server.listen to an address of this machine, such as 127.0.0.1:8787.`,
  ),
  not_listening: template(
    { ...place, error_code: "EAFNOSUPPORT" as string | undefined },
    ({ host, port, error_code }) =>
      `${cannotListen(host, port)} the system says ${error_code}. Set server.listen to another address.`,
  ),
});
