/** The handler of this example, for all runtimes. With the npm package, import `moniker-gateway/edge` instead. */
import { createEdgeHandler } from '../../dist/edge/edge.mjs';
import project from './moniker.json' with { type: 'json' };

/** `env`: MONIKER_ROOT_KEY, keys of providers, and the variables of moniker.json. */
export const handlerFor = (env) => createEdgeHandler({ project, env });
