/**
 * A loopback proxy that adds the API key, which the conformance runner cannot send, and changes nothing else: `Host` and `Origin` are
 * forwarded, so that the scenario about DNS rebinding tests the service and not this proxy.
 */
import { createServer, request as openRequest } from 'node:http';

export type AuthorizingProxy = { url: string; close(): void };

export async function startAuthorizingProxy(target: string, key: string): Promise<AuthorizingProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const onward = openRequest({
      hostname,
      port,
      method: incoming.method,
      path: incoming.url,
      headers: { ...incoming.headers, authorization: `Bearer ${key}` },
    });
    onward.once('response', (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      outgoing.flushHeaders();
      response.pipe(outgoing);
    });
    onward.once('error', () => outgoing.destroy());
    // A client that disconnects also ends the upstream request, as without a proxy.
    outgoing.once('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  const address = await new Promise<string>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const bound = server.address();
      resolve(`http://127.0.0.1:${typeof bound === 'object' && bound !== null ? bound.port : 0}`);
    });
  });
  return {
    url: address,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
