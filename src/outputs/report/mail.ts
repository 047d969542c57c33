import { createTransport, type Transporter } from "nodemailer";

/** The way to a mail server, which waits no longer than that for each of its answers. */
export function mailTransport(url: string, ms: number): Transporter {
  const limits = { connectionTimeout: ms, greetingTimeout: ms, socketTimeout: ms };
  return createTransport({ url, ...limits, disableFileAccess: true, disableUrlAccess: true });
}
