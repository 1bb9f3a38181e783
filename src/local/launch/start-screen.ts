/**
 * The screen that a start prints: the URL, the start page, the location of the key, the models, and commands to paste. Terminals and
 * service managers store output, so the key itself is printed only by the start that created it.
 */
import { oneLine } from '../../core/text/paragraphs.ts';

export type StartScreen = {
  url: string;
  /** The root key, if this start created it. */
  newKey: string | null;
  /** The file with the root key, as a user would type it. Null: the key is MONIKER_ROOT_KEY of the environment. */
  keyFile: string | null;
  /** As a user would type it. */
  dataDir: string;
  models: readonly string[];
  /** Null: no demo agent, or one that cannot run, so no command for a turn is shown. */
  demoSession: string | null;
  unknownSettings: readonly string[];
  /** Null: MONIKER_SKILLS_DIR is not set. */
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
    // Browsers do not send the fragment.
    `  open     ${url}/${newKey === null ? '' : `#key=${encodeURIComponent(newKey)}`}`,
    ...keyLines(screen),
    `  models   ${listSome(screen.models, 'GET /v1/models')}`,
    `  docs     ${url}/docs`,
    ...(screen.skills === null ? [] : [`  skills   ${listSome(screen.skills.names, 'GET /v1/skills')} (from ${screen.skills.folder})`]),
    `  data     ${dataDir} (toolsets, sessions, files and keys; kept for later starts)`,
    ...screen.unknownSettings.map((name) => `  warning  ${name} is set, but is not a Moniker setting`),
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
  return [`  key      ${newKey}`, `           shown only once; it is also in ${keyFile}`];
}

/** The key as it is used in a shell command, and the line that defines it if it is not printed. */
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
  '  No agent `demo` with a toolset exists. Create an agent with `moniker add agent` or PUT /v1/agents/{agent}, then use `moniker chat`.',
  '',
];

function listSome(names: readonly string[], where: string): string {
  const shown = names.slice(0, maxNames).join(', ') || 'none';
  return names.length > maxNames ? `${shown} and ${names.length - maxNames} more (${where})` : shown;
}

/** File names and foreign texts: one line each, whatever they contain. */
function noteLines(notes: readonly string[]): string[] {
  const lines = notes.slice(0, maxNotes).map((note) => `  warning  ${oneLine(note).slice(0, maxNoteLength)}`);
  return notes.length > maxNotes ? [...lines, `  warning  and ${notes.length - maxNotes} more about skills`] : lines;
}
