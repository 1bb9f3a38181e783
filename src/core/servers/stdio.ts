/**
 * MCP servers that are commands of this machine (MCP "stdio" transport): the members of their document, and the request to the bridge of
 * the launcher (`local/stdio/`) that starts them. A deployed Worker has no launcher.
 */
import * as z from 'zod';
import { canonicalJson } from '../hash.ts';
import { HiddenValue, type WithoutHidden } from '../secrets/hidden-values.ts';
import { KB } from '../limits/units.ts';

/** `data.code` of the JSON-RPC error of a call during which the program ended. */
export const endedCode = 'server_ended';
/** That of a call that was given up without a response. */
export const unansweredCode = 'unanswered';

export const maxArguments = 200;
const maxVariables = 200;
/** Command, arguments, variables and folder together: they are sent with each request to the launcher. */
const maxCommandLength = 48 * KB;

/** A text, or the name of a secret that is bound to `NAME.stdio`. */
const CommandValue = z.union([noNull(z.string()), z.strictObject({ secret: z.string().min(1).max(128) }), HiddenValue]);

/** Who shares a process of a command. */
export const Instances = z.enum(['session', 'key', 'shared']);
export type Instances = z.infer<typeof Instances>;

/** Members of an `mcp` server that is a command instead of a URL. */
export const commandMembers = {
  command: noNull(z.string().min(1)).optional().meta({
    description: 'Instead of `url`: a program of this machine that speaks MCP on standard input and output. Only for a local Moniker.',
    example: 'npx',
  }),
  args: z.array(CommandValue).max(maxArguments).optional().meta({ description: 'Arguments of the command. No shell interprets them.' }),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_().-]{0,127}$/, { message: 'is not a name of an environment variable' }), CommandValue)
    .refine((env) => Object.keys(env).length <= maxVariables, { message: `must have at most ${maxVariables} entries` })
    .optional()
    .meta({
      description:
        'Environment variables, in addition to those that programs need: `PATH`, `HOME`, locale, proxies, and settings of package runners. A secret must be bound to the host `NAME.stdio`, where NAME is the name of the server.',
    }),
  cwd: noNull(z.string().max(4_096))
    .refine((path) => /^(?:\/|[A-Za-z]:[\\/]|\\\\)/.test(path), { message: 'must be an absolute path' })
    .optional()
    .meta({
      description: 'The working folder. Absent: the home folder of the user, or `home` of the data folder if that is not writable.',
    }),
  instances: Instances.optional().meta({
    description:
      'The processes of the command. `session` (default): one for each MCP session and each session of a chat, and one for the calls of each API key without a session. `key`: one for each API key. `shared`: one for all, for programs that remember nothing of a call.',
  }),
};

function noNull(text: z.ZodString) {
  return text.refine((value) => !value.includes('\0'), { message: 'must not contain a null character' });
}

type CommandMembers = { [Name in keyof typeof commandMembers]?: z.infer<(typeof commandMembers)[Name]> | undefined };
/** What an MCP server runs. */
export type Command = WithoutHidden<CommandMembers> & { command: string };

/** Returns the issues of a document with or without a command; members of the other kind are not ignored. */
export function commandIssues(document: CommandMembers & Record<string, unknown>): { path: string; message: string }[] {
  const { command, args, env, cwd } = document;
  const given = (names: readonly string[]): string[] => names.filter((name) => document[name] !== undefined);
  if (command === undefined) {
    const needed =
      document.url === undefined ? [{ path: 'url', message: 'is required: give `url`, or `command` for a local program' }] : [];
    return [
      ...needed,
      ...given(['args', 'env', 'cwd', 'instances']).map((path) => ({ path, message: 'is only for a server with `command`' })),
    ];
  }
  const issues = given(['url', 'headers', 'query', 'oauth', 'transport']).map((path) => ({
    path,
    message: 'cannot be combined with `command`',
  }));
  if (document.era === 'modern') issues.push({ path: 'era', message: 'a server with `command` uses the revisions of 2025: omit it' });
  if (JSON.stringify([command, args, env, cwd]).length > maxCommandLength)
    issues.push({ path: 'command', message: `with \`args\`, \`env\` and \`cwd\` must be at most ${maxCommandLength} characters` });
  return issues;
}

/** The URL that stands for a command where a server needs one: secrets are bound to its host, and nothing connects to it. */
export function commandUrl(server: string): string {
  return `stdio://${server}.stdio`;
}

/** Returns whether both documents run the same, or nothing. */
export function isSameCommand(one: WithoutHidden<CommandMembers>, other: WithoutHidden<CommandMembers>): boolean {
  return canonicalJson(commandOf(one)) === canonicalJson(commandOf(other));
}

/** Why a server with a command is refused, and what to do. */
export const noLauncher =
  'It is a command, which only a Moniker on your own machine can run (`npm start` or `moniker start`). Run the server there, or make it available over Streamable HTTP and set `url`.';
export const unprovenCommand =
  'Servers with a `command` run programs on the machine of this Moniker, so they are added there, and what the programs are given is set there: with the command line (`moniker add server`, `moniker import`) or a project file. To let API keys with the scope `admin` do it, start Moniker with MONIKER_ALLOW_STDIO=api.';

export function commandOf({ command, args, env, cwd, instances }: WithoutHidden<CommandMembers>): Command | null {
  if (command === undefined) return null;
  return { command, ...(args && { args }), ...(env && { env }), ...(cwd !== undefined && { cwd }), ...(instances && { instances }) };
}

/** A program that the launcher runs. `key`: `programKey` (`stdio-run.ts`). */
export type Program = { workspace: string; server: string; key: string };

/** Sent with the token of the launcher, by the Worker to the bridge and by the command line to the Worker. */
export const launcherHeader = 'x-moniker-launcher';
/** The path of the bridge to which the Worker reports that servers or secrets were changed. */
export const changedPath = '/changed';
/** The path of the bridge that lists the processes of the workspace of a `StdioRun`. */
export const processesPath = '/processes';
/** The path of the bridge to which the Worker reports that a session has ended: a POST with a `SessionEnd` in `runHeader`. */
export const endedPath = '/ended';
/** The path of the bridge that says what is wrong with the clock of the machine: a text as JSON, or null. */
export const clockPath = '/clock';
/** The session whose processes end (`instances: "session"`), and its workspace. */
export type SessionEnd = { workspace: string; owner: string };
/** A `StdioRequest` as JSON, encoded as a URI component. */
export const runHeader = 'x-moniker-stdio';

/** What the bridge runs, with secrets filled in (`stdio-run.ts`). Processes with an equal `programKey` are of one program. */
export type StdioRun = {
  workspace: string;
  server: string;
  /** Of the document; 0: a test of a document that is not stored. */
  version: number;
  command: string;
  args: string[];
  env: Record<string, string>;
  cwd?: string;
  /** Declared to the server. */
  capabilities: Record<string, unknown>;
  /** `client`: of the session whose call is in progress. */
  roots: Record<string, unknown>[] | 'client';
  /** The secrets in `args` and `env`, and what may be one: the log does not show them. */
  hidden: string[];
  instances: Instances;
};

/** For whom. */
export type StdioCaller = {
  /** Whose process it is: the owner of a session, or a key; null: that of nobody, which is shared, or the spare one. */
  owner: string | null;
  /** Requests of the server during a call are sent to a call of the same conversation. */
  conversation: string;
  /** Listens for changes of the server, which is no reason to start a process for the owner. */
  isListening?: boolean;
  /** The time for the start, in milliseconds. */
  startMs: number;
};

export type StdioRequest = StdioRun & StdioCaller;

/** A process that runs, as administrators see it. */
export const ServerProcess = z
  .object({
    server: z.string(),
    owner: z.string().nullable().meta({
      description: 'The session or API key that it belongs to; null: all share it, or it is the spare one for the next session.',
    }),
    state: z.enum(['starting', 'ready']),
    startedAt: z.iso.datetime(),
    usedAt: z.iso.datetime().meta({ description: 'It is ended some time after its last use.' }),
    calls: z.int().meta({ description: 'Requests in progress.' }),
  })
  .meta({ id: 'ServerProcess' });
export type ServerProcess = z.infer<typeof ServerProcess>;
