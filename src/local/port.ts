/** Claims the port before anything is built, so that a taken one is said at once and in words. */
import { createServer } from 'node:net';
import { StartFailure } from './start-failure.ts';

export const loopback = '127.0.0.1';

/** The port itself, or for 0 a free one. Nothing listens on it when this returns. */
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
      `Port ${port} is taken: by another program, or by the \`workerd\` of a Moniker that was killed.\n` +
        `Stop that one, or choose another port: PORT=${port + 1} npm start`,
    );
  }
  if (error.code === 'EACCES') return new StartFailure(`Port ${port} may not be used by this user. Try: PORT=8787 npm start`);
  return error;
}
