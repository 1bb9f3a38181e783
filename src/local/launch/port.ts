/** Claims the port before anything is built, so that a used port is reported early and clearly. */
import { createServer, isIP, isIPv6 } from 'node:net';
import { StartFailure } from './start-failure.ts';

export const loopback = '127.0.0.1';

/** Where to listen: `MONIKER_HOST`, an IP address. */
export function readHost(text = ''): string {
  return isIP(text.trim()) === 0 ? loopback : text.trim();
}

/** `host:port` as in a URL, with IPv6 addresses in brackets. */
export function addressOf(host: string, port: number): string {
  return `${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** Where this machine reaches a service that listens on `host`. */
export function reachableHost(host: string): string {
  return host === '0.0.0.0' ? loopback : host === '::' ? '::1' : host;
}

/** Whether other machines reach it. */
export function isExposed(host: string): boolean {
  return !isLoopbackAddress(host);
}

/** Of an IP address in its usual spelling, which `URL` makes of all others. IPv6 may be in brackets. */
export function isLoopbackAddress(host: string): boolean {
  return /^127\.\d+\.\d+\.\d+$/.test(host) || host === '::1' || host === '[::1]';
}

/** Returns the port, or a free one for 0. Nothing listens on it when this returns. */
export function claimPort(port: number, host = loopback): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => reject(portFailure(port, host, error)));
    server.listen({ host, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}

function portFailure(port: number, host: string, error: NodeJS.ErrnoException): Error {
  if (error.code === 'EADDRINUSE') {
    return new StartFailure(
      `Port ${port} is already in use: by another program, or by the \`workerd\` of a killed Moniker.\n` +
        `Stop that program, or choose another port: PORT=${port + 1} npm start`,
    );
  }
  if (error.code === 'EACCES')
    return new StartFailure(`Port ${port} requires permissions that this user does not have. Try: PORT=8787 npm start`);
  if (error.code === 'EADDRNOTAVAIL')
    return new StartFailure(
      `MONIKER_HOST is ${host}, which is not an address of this machine. Use 127.0.0.1, or 0.0.0.0 for all its networks.`,
    );
  return error;
}
