/**
 * Answers one question over the tools of the GitHub server with a scripted model, once with plain tool calls and once in code mode, and
 * measures how much the model was sent. The answer is computed from the results, so an omitted result makes it wrong. Used by
 * `code-mode.e2e.test.ts` and `bench/code-mode.ts`.
 */
import { readFileSync } from 'node:fs';
import { charactersPerToken } from '../../src/core/limits/units.ts';
import { fakeOpenAi } from '../fakes/upstreams/openai.ts';
import { listenUpstream, type Say, type Understood } from '../fakes/upstreams/upstream.ts';
import { listenToolServer, type ServedCall } from '../fakes/tool-server.ts';
import type { Answer } from './service.ts';

type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

export type StoryResult = {
  /** `on demand`: tools are found by search, as for a large toolset; `all`: every definition, or every declaration that fits, is sent. */
  sent: 'on demand' | 'all';
  mode: 'plain' | 'code';
  requests: number;
  /** Sizes of the request bodies that the provider received; tokens are our estimate. */
  bytes: number;
  tokens: number;
  /** The first request to the model. */
  firstTokens: number;
  toolCalls: { canonical: string | null; isError: boolean }[];
  /** The requests to the GitHub stand-in. */
  asked: string[];
  text: string;
};

export const question = 'Who was the last to comment on the oldest open bug of octo/app that nobody is assigned to?';
export const rightAnswer = 'Issue 137, last comment by grace.';

/** Runs all four variants, each in a separate session. `corpus`: the file with the server's tools. */
export async function runCodeModeStory(call: Call, corpus: string): Promise<StoryResult[]> {
  const github = await listenToolServer(answerAsGitHub);
  let say: (understood: Understood, index: number) => Say = () => ({ text: 'not yet' });
  let bodies: string[] = [];
  const model = fakeOpenAi((understood) => say(understood, bodies.length - 1));
  const provider = await listenUpstream({
    async handle(request) {
      bodies.push(await request.clone().text());
      return await model.handle(request);
    },
  });
  try {
    const tools = JSON.parse(readFileSync(corpus, 'utf8')) as { name: string }[];
    await put(call, '/v1/servers/github', { kind: 'static', url: github.url, trusted: true, tools });
    await put(call, '/v1/providers/story', {
      kind: 'openai',
      baseUrl: `${provider.url}/v1`,
      apiKey: 'key-of-the-story',
      models: ['gpt-5.2'],
      profile: { exact: true },
    });
    const entries = tools.map(({ name }) => ({ tool: `github.${name}`, aliases: [] }));
    const results: StoryResult[] = [];
    for (const sent of ['on demand', 'all'] as const) {
      const toolset = `github-${sent.replace(' ', '-')}`;
      await put(call, `/v1/toolsets/${toolset}`, { tools: entries, ...(sent === 'all' && { onDemandAbove: 500 }) });
      for (const mode of ['plain', 'code'] as const) {
        const agent = `${toolset}-${mode}`;
        await put(call, `/v1/agents/${agent}`, { model: 'story/gpt-5.2', toolset, ...(mode === 'code' && { codeMode: true }) });
        say = scriptOf(mode, sent);
        bodies = [];
        github.calls.length = 0;
        const { json: session } = await call('POST', '/v1/sessions', { agent });
        const { json } = await call('POST', `/v1/sessions/${session.id}/turns`, { input: question });
        results.push({
          sent,
          mode,
          requests: bodies.length,
          bytes: bodies.reduce((sum, body) => sum + Buffer.byteLength(body), 0),
          tokens: bodies.reduce((sum, body) => sum + tokensOf(body), 0),
          firstTokens: tokensOf(bodies[0] ?? ''),
          toolCalls: json.toolCalls.map(({ canonical, isError }: StoryResult['toolCalls'][number]) => ({ canonical, isError })),
          asked: github.calls.map(({ name, arguments: { after, method } }) =>
            [name, after ?? method].filter((part) => part != null).join(' '),
          ),
          text: json.text,
        });
      }
    }
    if (model.refused.length > 0) throw new Error(`the provider refused: ${model.refused.join('; ')}`);
    return results;
  } finally {
    provider.close();
    github.close();
  }
}

const tokensOf = (body: string): number => Math.ceil(body.length / charactersPerToken);

async function put(call: Call, path: string, body: unknown): Promise<void> {
  const { status, text } = await call('PUT', path, body);
  if (status !== 201 && status !== 200) throw new Error(`PUT ${path}: ${status} ${text}`);
}

// ---- GitHub ----

type Issue = { number: number; labels: string[]; assignees: string[]; created_at: string; body: string };

/** Two pages of issues, mostly text that is irrelevant to the question. */
const issues = Array.from({ length: 100 }, (_, index): Issue => {
  const isIt = index === 63;
  const number = isIt ? 137 : 1_000 + index;
  const labels = isIt || index % 3 === 0 ? ['bug'] : ['question'];
  const year = isIt ? 2019 : index % 3 === 0 ? 2021 : 2015;
  return {
    number,
    labels,
    assignees: !isIt && index % 6 === 0 ? ['ada'] : [],
    created_at: `${year}-01-${String((index % 27) + 1).padStart(2, '0')}T00:00:00Z`,
    body: `What was done, what was expected and what came of it, told at length by whoever opened issue ${number}. `.repeat(6),
  };
});
const pageSize = 50;

function answerAsGitHub({ name, arguments: args }: ServedCall): unknown {
  const text = (value: unknown) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
  if (name === 'list_issues') {
    const from = Number(args.after ?? 0);
    const end = from + pageSize;
    return text({ issues: issues.slice(from, end), pageInfo: { hasNextPage: end < issues.length, endCursor: String(end) } });
  }
  if (name === 'issue_read' && args.method === 'get_comments' && args.issue_number === 137)
    return text([
      { user: 'ada', body: 'Seen here, too.' },
      { user: 'grace', body: 'So it is.' },
    ]);
  return { content: [{ type: 'text', text: `there is no ${name} ${JSON.stringify(args)}` }], isError: true };
}

// ---- The model ----

const repository = { owner: 'octo', repo: 'app' };

/** The code that a model would write after reading the declarations. */
const code = `
const all = [];
let after;
do {
  const listed = await tools.list_issues({ owner: 'octo', repo: 'app', state: 'OPEN', ...(after && { after }) });
  if (!listed.success) return listed.error;
  const { issues, pageInfo } = JSON.parse(listed.output);
  all.push(...issues);
  after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
} while (after);
const [oldest] = all
  .filter((issue) => issue.labels.includes('bug') && issue.assignees.length === 0)
  .sort((a, b) => a.created_at.localeCompare(b.created_at));
const comments = await tools.issue_read({ method: 'get_comments', owner: 'octo', repo: 'app', issue_number: oldest.number });
if (!comments.success) return comments.error;
return { number: oldest.number, user: JSON.parse(comments.output).at(-1).user };`;

function scriptOf(mode: StoryResult['mode'], sent: StoryResult['sent']): typeof tellNothing {
  const steps = [...(sent === 'on demand' ? [looks[mode]] : []), ...(mode === 'code' ? codeSteps : plainSteps)];
  return (understood, index) => steps[index]?.(understood) ?? { text: 'lost' };
}

const tellNothing = (_understood: Understood, _index: number): Say => ({});
type Step = (understood: Understood) => Say;

/** The steps of a model that has to search for tools; both modes return the same results. */
const wanted = ['list issues in a repository', 'comments of an issue'];
const looks: Record<StoryResult['mode'], Step> = {
  plain: () => ({ calls: wanted.map((query) => ({ name: 'find_tools', arguments: { query, limit: 3 } })) }),
  code: () => ({
    calls: [
      {
        name: 'run_code',
        arguments: {
          code: `const found = await Promise.all(${JSON.stringify(wanted)}.map((query) => tools.find_tools({ query, limit: 3 })));\nreturn found.map(({ output }) => output).join('\\n');`,
        },
      },
    ],
  }),
};

const codeSteps: readonly Step[] = [
  () => ({ calls: [{ name: 'run_code', arguments: { code } }] }),
  (understood) => {
    const { number, user } = resultsOf(understood).at(-1) as { number: number; user: string };
    return { text: `Issue ${number}, last comment by ${user}.` };
  },
];

type Page = { issues: Issue[]; pageInfo: { endCursor: string } };

const plainSteps: readonly Step[] = [
  () => ({ calls: [{ name: 'list_issues', arguments: { ...repository, state: 'OPEN' } }] }),
  (understood) => {
    const { pageInfo } = resultsOf(understood).at(-1) as Page;
    return { calls: [{ name: 'list_issues', arguments: { ...repository, state: 'OPEN', after: pageInfo.endCursor } }] };
  },
  (understood) => ({
    calls: [{ name: 'issue_read', arguments: { ...repository, method: 'get_comments', issue_number: oldestIn(understood) } }],
  }),
  (understood) => {
    const comments = resultsOf(understood).at(-1) as { user: string }[];
    return { text: `Issue ${oldestIn(understood)}, last comment by ${comments.at(-1)?.user}.` };
  },
];

function oldestIn(understood: Understood): number {
  const pages = resultsOf(understood).filter(
    (result): result is Page => typeof result === 'object' && result !== null && 'pageInfo' in result,
  );
  const bugs = pages.flatMap((page) => page.issues).filter(({ labels, assignees }) => labels.includes('bug') && assignees.length === 0);
  return bugs.sort((a, b) => a.created_at.localeCompare(b.created_at))[0]?.number ?? 0;
}

/** All results so far that are JSON. */
function resultsOf({ messages }: Understood): unknown[] {
  return messages.flatMap((message) => (message.role === 'tool' ? message.results.flatMap(({ text }) => parsed(text)) : []));
}

function parsed(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    // Tool listings are plain text.
    return [];
  }
}
