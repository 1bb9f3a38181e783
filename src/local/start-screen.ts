/**
 * The one screen that a start prints: the address, the start page, where the key is, which models, and commands that work when
 * pasted. Terminals and service managers keep what is printed, so the key itself is shown by the start that made it and no other.
 */
import { oneLine } from '../core/text/paragraphs.ts';

export type StartScreen = {
  url: string;
  /** The root key, where this start made it. */
  newKey: string | null;
  /** The file with the root key, as a person would type it. Null: the key is MONIKER_ROOT_KEY of the environment. */
  keyFile: string | null;
  /** As a person would type it. */
  dataDir: string;
  models: readonly string[];
  /** Null: no demo agent, or none that can answer, so there is nothing to paste a turn to. */
  demoSession: string | null;
  unknownSettings: readonly string[];
  /** Null: no folder of skills was named. */
  skills: { folder: string; names: readonly string[]; notes: readonly string[] } | null;
};

const maxNames = 8;
const maxNotes = 10;
const maxNoteLength = 300;

export function renderStartScreen(screen: StartScreen): string {
  const { url, newKey, dataDir } = screen;
  return [
    '',
    `  Moniker is ready at ${url}`,
    '',
    // No browser sends the fragment.
    `  open     ${url}/${newKey === null ? '' : `#key=${encodeURIComponent(newKey)}`}`,
    ...keyLines(screen),
    `  models   ${listSome(screen.models, 'GET /v1/models')}`,
    `  docs     ${url}/docs`,
    ...(screen.skills === null ? [] : [`  skills   ${listSome(screen.skills.names, 'GET /v1/skills')} (from ${screen.skills.folder})`]),
    `  data     ${dataDir} (toolsets, sessions, files and keys; a second start finds them again)`,
    ...screen.unknownSettings.map((name) => `  warning  ${name} is set, but is no setting of Moniker`),
    ...noteLines(screen.skills?.notes ?? []),
    '',
    ...(screen.demoSession === null ? noDemo : demo(screen, screen.demoSession)),
    '  Ctrl-C stops it.',
    '',
  ].join('\n');
}

function keyLines({ newKey, keyFile }: StartScreen): string[] {
  if (keyFile === null) return ['  key      MONIKER_ROOT_KEY of the environment'];
  if (newKey === null) return [`  key      in ${keyFile}`];
  return [`  key      ${newKey}`, `           later starts do not print it; it is in ${keyFile}`];
}

/** The key as a shell command has it, and the line that defines it where it is not printed. */
function keyInShell({ newKey, keyFile }: StartScreen): { key: string; definition: string[] } {
  if (keyFile === null) return { key: '$MONIKER_ROOT_KEY', definition: [] };
  if (newKey !== null) return { key: newKey, definition: [] };
  const quoted = `'${keyFile.replaceAll("'", "'\\''")}'`;
  return { key: '$KEY', definition: [`KEY=$(sed -n 's/^MONIKER_ROOT_KEY=//p' ${quoted})`] };
}

function demo(screen: StartScreen, session: string): string[] {
  const { url } = screen;
  const { key, definition } = keyInShell(screen);
  return [
    '  Paste this: a streamed turn in which `shell`, an alias, runs as `builtin.bash` (watch for "via")',
    '',
    ...definition,
    `curl -sN ${url}/v1/sessions/${session}/turns \\`,
    `  -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -H 'Accept: text/event-stream' \\`,
    `  -d '{"input": "/shell echo hello > note.txt && ls -l"}'`,
    '',
    `  The same from any OpenAI client: base URL ${url}/v1, model agent/demo`,
    '',
    `curl -sN ${url}/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' \\`,
    `  -d '{"model": "agent/demo", "stream": true, "messages": [{"role": "user", "content": "/shell date"}]}'`,
    '',
    `  The tools in any MCP client: ${url}/mcp/demo, with the key as bearer token`,
    '',
  ];
}

const noDemo = [
  '  There is no agent `demo` here, or its toolset is gone; make one with PUT /v1/agents/{agent}, then POST /v1/sessions.',
  '',
];

function listSome(names: readonly string[], where: string): string {
  const shown = names.slice(0, maxNames).join(', ') || 'none';
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more (${where})` : shown;
}

/** Names of files and texts of strangers: one line each, whatever stands in them. */
function noteLines(notes: readonly string[]): string[] {
  const lines = notes.slice(0, maxNotes).map((note) => `  warning  ${oneLine(note).slice(0, maxNoteLength)}`);
  return notes.length > maxNotes ? [...lines, `  warning  and ${notes.length - maxNotes} more about skills`] : lines;
}
