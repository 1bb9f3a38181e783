/**
 * Builds every adapter from the bindings; nothing else does. Each file of this folder builds one kind of parts from those before it. HTTP names
 * what it uses of them (`http/services.ts`), and each Durable Object declares it as an interface.
 */
import type { Bindings } from '../storage/bindings.ts';
import { buildWork } from './work.ts';
import { buildMcp } from './mcp.ts';
import { buildModels } from './models.ts';
import { buildObjects } from './objects.ts';
import { buildPeople } from './people.ts';
import { buildRuntime, type WiringOptions } from './runtime.ts';
import { buildServers } from './servers.ts';
import { buildTools } from './tools.ts';

export function createWiring(bindings: Bindings, deployment: WiringOptions) {
  const runtime = buildRuntime(bindings, deployment);
  const stored = { ...runtime, ...buildObjects(bindings, runtime) };
  const connected = { ...stored, ...buildServers(stored) };
  const callable = { ...connected, ...buildTools(connected) };
  const withModels = { ...callable, ...buildModels(callable) };
  return { ...withModels, ...buildWork(withModels), ...buildMcp(callable), ...buildPeople(bindings, deployment, stored) };
}
