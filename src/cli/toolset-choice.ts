/** The toolset or agent that a command uses when none is named. */
import type { MonikerClient } from '../../client/src/index.ts';
import { CommandFailure, exitCodes } from './failure.ts';

/** Enough to list in an error. */
const limit = 20;

/** `named`: of the option `--toolset`. Without it, the only toolset of the service. */
export async function chooseToolset(client: MonikerClient, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  const { items } = await client.get('/v1/toolsets', { params: { query: { limit } } });
  return onlyOne(
    'toolset',
    items.map(({ name }) => name),
  );
}

/** Without a name, the only agent, else `demo`. */
export async function chooseAgent(client: MonikerClient, named: string | undefined): Promise<string> {
  if (named !== undefined) return named;
  const { items } = await client.get('/v1/agents', { params: { query: { limit } } });
  const names = items.map(({ name }) => name);
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
