/**
 * What reaches the programs that servers with a `command` run on the machine of this Moniker. To set it, a request needs the launcher's proof
 * (`http/launcher-proof.ts`): a key of the scope `admin` administers a workspace, not the machine. `stdio-run.ts` builds what is sent.
 */
import { canonicalJson } from '../hash.ts';
import type { Server } from './server.ts';

/** `seen`: how the program sees the member. `unseen`: why it does not. */
type Row = { seen: string } | { unseen: string };
type MemberOfServer = Server extends infer One ? (One extends Server ? keyof One : never) : never;

const noMember = { unseen: 'a server with a command cannot have it' } as const;
const shown = { unseen: 'GET shows it; a write ignores it' } as const;

/** Every member of a server's document. A new member of the schema does not compile without a row. */
export const launchedSettings: Readonly<Record<MemberOfServer, Row>> = {
  kind: { seen: 'only the kind `mcp` runs programs' },
  command: { seen: 'it is the program' },
  args: { seen: 'its arguments' },
  env: { seen: 'its environment' },
  cwd: { seen: 'its working folder' },
  instances: { seen: 'how many processes of it run, and who shares one' },
  roots: { seen: 'the result of `roots/list`, which replaces the folders that some servers are restricted to' },
  sampling: { seen: 'declared as a capability; it may then request completions' },
  name: { unseen: 'it is the name in the path, which a write cannot change' },
  trusted: { unseen: 'decides about approvals and retries of calls' },
  instructions: { unseen: 'sent to models only' },
  timeoutMs: { unseen: 'how long callers wait for a response, which agents set too; the program is not ended by it' },
  price: { unseen: 'what calls cost their callers' },
  updates: { unseen: 'decides which changed tools take a review' },
  era: { unseen: 'the revisions of 2025 are used for every program' },
  url: noMember,
  headers: noMember,
  query: noMember,
  transport: noMember,
  oauth: noMember,
  document: noMember,
  baseUrl: noMember,
  include: noMember,
  exclude: noMember,
  tools: shown,
  health: shown,
  connection: shown,
  offers: shown,
  authorization: shown,
  warnings: shown,
};

/** A server's document, or an earlier one of any kind. */
type Document = Readonly<Record<string, unknown>>;

/** Returns the members that a program sees and that differ from those of `before`; none for a document without a command. */
export function changedLaunch(before: Document | null, after: Document): string[] {
  if (after.command === undefined) return [];
  const previous = before?.command === undefined ? {} : before;
  return Object.entries(launchedSettings).flatMap(([member, row]) =>
    'seen' in row && canonicalJson(previous[member] ?? null) !== canonicalJson(after[member] ?? null) ? [member] : [],
  );
}

/** Returns the members of a secret if a command can use it (`commandUrl` has the host): then a program may see its value. */
export function changedSecret(hosts: readonly string[] = []): string[] {
  return hosts.some((host) => /\.stdio(?::\d+)?$/.test(host)) ? ['secret'] : [];
}
