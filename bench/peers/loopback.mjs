/**
 * Loaded before a gateway: it listens on 127.0.0.1 only, connects to nothing else, runs no other program, and writes to a temporary folder.
 * Some gateways listen on every address, fetch catalogs, or write to the home folder.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const home = mkdtempSync(join(tmpdir(), 'moniker-bench-peer-'));
process.once('exit', () => rmSync(home, { recursive: true, force: true }));
Object.assign(process.env, { PATH: '', HOME: home, XDG_STATE_HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home });

const isLocal = (host) => host === undefined || /^(127\.|localhost$|::1$)/.test(host);
/** Nothing listens here, so a connection is refused as on a machine without network. */
const refused = { host: '127.0.0.1', port: 9 };
const { listen } = Server.prototype;
const { connect } = Socket.prototype;

Server.prototype.listen = function (first, ...rest) {
  if (typeof first === 'object') return listen.call(this, 'port' in first ? { ...first, host: '127.0.0.1' } : first, ...rest);
  return listen.call(this, { port: Number(first), host: '127.0.0.1' }, ...rest.filter((one) => typeof one === 'function'));
};

Socket.prototype.connect = function (...args) {
  // Node passes its own normalized arguments as one array, which has to stay the same object.
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  if (typeof options === 'object' && options.path === undefined && !isLocal(options.host)) Object.assign(options, refused);
  else if (typeof options !== 'object' && !isLocal(args[1])) args.splice(0, 2, refused.port, refused.host);
  return connect.apply(this, args);
};
