/** The toolset or agent that a command uses when none is named, and the names that there are. */
import type { MonikerClient } from '../../client/src/index.ts';
import { CommandFailure, exitCodes } from './failure.ts';

/** Enough to list in an error. */
const limit = 20;

export const completedKinds = ['agents', 'toolsets', 'models'] as const;
export type CompletedKind = (typeof completedKinds)[number];

/** The names that the key may see, at most `most`: aliases and agents are among the models. */
export async function namesOf(client: MonikerClient, kind: CompletedKind, most: number = limit): Promise<string[]> {
  if (kind === 'models') return (await client.get('/v1/models')).data.slice(0, most).map(({ id }) => id);
  const query = { params: { query: { limit: most } } };
  const { items } = kind === 'agents' ? await client.get('/v1/agents', query) : await client.get('/v1/toolsets', query);
  return items.map(({ name }) => name);
}

/** `named`: of the option `--toolset`. Without it, the only toolset of the service. */
export async function chooseToolset(client: MonikerClient, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  return onlyOne('toolset', await namesOf(client, 'toolsets'));
}

/** Without a name, the only agent, else `demo`. */
export async function chooseAgent(client: MonikerClient, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  const names = await namesOf(client, 'agents');
  return names.includes('demo') ? 'demo' : onlyOne('agent', names);
}

function onlyOne(kind: 'toolset' | 'agent', names: readonly string[]): string {
  const [only, ...others] = names;
  if (only === undefined)
    throw new CommandFailure(
      `There is no ${kind}.`,
      `Add one: \`moniker add ${kind} --help\`.${kind === 'agent' ? ' Or chat with a model: --model <model> --toolset <toolset>.' : ''}`,
    );
  if (others.length > 0)
    throw new CommandFailure(`There are several ${kind}s: ${names.join(', ')}.`, `Choose one with --${kind}.`, exitCodes.usage);
  return only;
}
