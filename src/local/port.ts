/** Claims the port before anything is built, so that a used port is reported early and clearly. */
import { createServer } from 'node:net';
import { StartFailure } from './start-failure.ts';

export const loopback = '127.0.0.1';

/** Returns the port, or a free one for 0. Nothing listens on it when this returns. */
export function claimPort(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => reject(portFailure(port, error)));
    server.listen({ host: loopback, port, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : port));
    });
  });
}

function portFailure(port: number, error: NodeJS.ErrnoException): Error {
  if (error.code === 'EADDRINUSE') {
    return new StartFailure(
      `Port ${port} is already in use: by another program, or by the \`workerd\` of a killed Moniker.\n` +
        `Stop that program, or choose another port: PORT=${port + 1} npm start`,
    );
  }
  if (error.code === 'EACCES')
    return new StartFailure(`Port ${port} requires permissions that this user does not have. Try: PORT=8787 npm start`);
  return error;
}
