/**
 * The networks that the Worker may connect to on this machine. workerd checks the address after DNS resolution, so a public name with a
 * private address, a redirect and DNS rebinding are all blocked here. `net/guard.ts` checks the text of a URL; `net/outbound.ts` chooses
 * the network of a request.
 */
import { getCACertificates, rootCertificates } from 'node:tls';
import { blockedNetworks } from '../net/address.ts';

/** workerd's own list of private addresses lacks many special-purpose ranges, such as 192.0.2.0/24 and NAT64 prefixes. */
const publicNetwork = { type: 'network' as const, allow: ['public'], deny: blockedNetworks(), tlsOptions: tlsOptions() };

/** For the hosts in MONIKER_ALLOW_PRIVATE_HOSTS. workerd treats 240.0.0.0/4 as neither public nor private. */
const privateNetwork = { type: 'network' as const, allow: ['public', 'private', '240.0.0.0/4'], tlsOptions: tlsOptions() };

/** Bindings that `net/outbound.ts` sends through. */
export const networkBindings = { PUBLIC_NETWORK: publicNetwork, PRIVATE_NETWORK: privateNetwork };

const name = 'public-network';

/** Receives the Worker's global `fetch`, which could otherwise reach every address of this machine and its network. */
export const globalOutbound = { type: 'worker' as const, worker: name };
export const globalOutboundWorker = {
  config: {
    name,
    compatibilityDate: '2026-11-17',
    manifest: {
      mainModule: 'index.js',
      modules: {
        'index.js': { type: 'esm' as const, contents: 'export default { fetch: (request, env) => env.NETWORK.fetch(request) };' },
      },
    },
    env: { NETWORK: publicNetwork },
  },
};

/** The certificate authorities that browsers trust, and those in NODE_EXTRA_CA_CERTS. Windows has no store that workerd reads. */
function tlsOptions(): { trustBrowserCas: boolean; trustedCertificates: string[] } {
  const trustedCertificates = [...(process.platform === 'win32' ? rootCertificates : []), ...getCACertificates('extra')];
  return { trustBrowserCas: true, trustedCertificates };
}
