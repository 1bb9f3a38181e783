/**
 * A made tool with two calls compared with the same two calls made directly, through the service as `npm start` runs it: over REST, where
 * two calls are two requests, and in turns of sessions, where they are two calls of one step. A made tool adds its machine, its journal
 * and its audit rows. `node bench/made-tools.ts [--quick]`
 */
import { load, median, prepare, type Prepared } from './load.ts';
import { startServers, type Servers } from './servers.ts';
import { createApi, type Api } from './setup.ts';

const quick = process.argv.includes('--quick');
const effort = quick ? { rounds: 3, ms: 600 } : { rounds: 5, ms: 1_000 };
const goalMs = 10;
const writing = { path: 'notes.txt', content: 'one two three' };

const servers = await startServers();
process.once('SIGINT', () => void servers.stop().then(() => process.exit(130)));
try {
  const api = createApi(servers);
  await setUp(api);
  console.log(`Medians of ${effort.rounds} paired rounds of ${effort.ms} ms, one connection.\n`);
  console.log('| where | the two calls, ms | the made tool, ms | added |');
  console.log('|---|---|---|---|');
  const added = [await compare('requests', requests(servers)), await compare('turns', await turns(servers, api))];
  const most = Math.max(...added);
  console.log(`\n${most < goalMs ? 'pass' : 'FAIL'}: a made tool adds at most ${most.toFixed(2)} ms to its two calls (goal < ${goalMs})`);
  if (most >= goalMs) process.exitCode = 1;
} finally {
  await servers.stop();
}

async function setUp(api: Api): Promise<void> {
  await api.send('PUT', '/v1/tools/made.keep', {
    description: 'Writes a file and reads it back.',
    parameters: ['path', 'content'].map((name) => ({ name, type: 'string', required: true })),
    implementation: 'await tools.write_file(args); return (await tools.read_file({ path: args.path })).output;',
  });
  const tools = ['made.keep', 'builtin.write_file', 'builtin.read_file'].map((tool) => ({ tool, aliases: [] }));
  await api.send('PUT', '/v1/toolsets/made', { tools });
  const { isError } = await api.send<{ isError: boolean }>('POST', '/v1/toolsets/made/calls', { name: 'keep', arguments: writing });
  if (isError) throw new Error('the made tool does not work');
}

/** `per`: the number of responses in one pass. Files of a call without a session are deleted after it: both calls write. */
type Way = { requests: Prepared[]; per: number };
type Ways = { direct: Way; made: Way };

function requests({ ours, key }: Servers): Ways {
  const call = (name: string, args: object): Prepared =>
    prepare(`${ours.url}/v1/toolsets/made/calls`, { headers: { authorization: `Bearer ${key}` }, body: { name, arguments: args } });
  return {
    direct: { requests: [call('write_file', writing)], per: 2 },
    made: { requests: [call('keep', writing)], per: 1 },
  };
}

async function turns({ ours, key }: Servers, api: Api): Promise<Ways> {
  const ids: string[] = [];
  for (let index = 0; index < 100; index++)
    ids.push((await api.send<{ id: string }>('POST', '/v1/sessions', { model: 'rehearsal/default', toolset: 'made' })).id);
  const say = (sessions: readonly string[], input: string): Prepared[] =>
    sessions.map((id) => prepare(`${ours.url}/v1/sessions/${id}/turns`, { headers: { authorization: `Bearer ${key}` }, body: { input } }));
  const args = JSON.stringify(writing);
  return {
    direct: { requests: say(ids.slice(0, 50), `/write_file ${args}\n/read_file path=notes.txt`), per: 1 },
    made: { requests: say(ids.slice(50), `/keep ${args}`), per: 1 },
  };
}

async function compare(where: string, { direct, made }: Ways): Promise<number> {
  await measure(direct);
  await measure(made);
  const rounds: { direct: number; made: number }[] = [];
  for (let round = 0; round < effort.rounds; round++) {
    const isEven = round % 2 === 0;
    const first = await measure(isEven ? direct : made);
    const second = await measure(isEven ? made : direct);
    rounds.push(isEven ? { direct: first, made: second } : { direct: second, made: first });
  }
  const added = median(rounds.map((round) => round.made - round.direct));
  const cells = [median(rounds.map((round) => round.direct)), median(rounds.map((round) => round.made)), added];
  console.log(`| ${where} | ${cells.map((ms) => ms.toFixed(2)).join(' | ')} |`);
  return added;
}

async function measure({ requests: prepared, per }: Way): Promise<number> {
  const { p50, bad, errors, answers } = await load(prepared, { connections: 1, ms: effort.ms, sse: false });
  if (bad + errors > 0 || answers === 0) throw new Error(`${bad + errors} of the answers were none`);
  return p50 * per;
}
