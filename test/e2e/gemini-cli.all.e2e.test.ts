/** Gemini CLI without a terminal: it runs its own tools in a loop, over the wires of other providers, by their models' names and by an alias. */
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Script, Understood } from '../fakes/upstreams/upstream.ts';
import { type FakeProviders, refOf, startFakeProviders, type Wire } from './fake-providers.ts';
import { runProgram } from './run-program.ts';
import { shareService } from './shared-service.ts';

const cli = join(dirname(fileURLToPath(import.meta.resolve('@google/gemini-cli/package.json'))), 'bundle/gemini.js');

/** Nothing is asked of the internet, and nobody. */
const settings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false, disableAutoUpdate: true, disableUpdateNag: true },
};

describe('Gemini CLI', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  const home = mkdtempSync(join(tmpdir(), 'moniker-gemini-cli-'));
  const folder = join(home, 'work');
  let fakes: FakeProviders;

  beforeAll(async () => {
    fakes = await startFakeProviders();
    await fakes.putAll(service.call);
    mkdirSync(join(home, '.gemini'));
    mkdirSync(folder);
    writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings));
    writeFileSync(join(folder, 'note.txt'), 'The word is heron.\n');
  });
  afterAll(() => {
    fakes.close();
    rmSync(home, { recursive: true, force: true });
  });

  const run = (model: string, prompt: string) =>
    runProgram(process.execPath, [cli, '--model', model, '--output-format', 'json', '--approval-mode', 'yolo', '--prompt', prompt], {
      cwd: folder,
      env: {
        ...{ HOME: home, GEMINI_API_KEY: service.key, GOOGLE_GEMINI_BASE_URL: service.url },
        ...{ GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_SANDBOX: 'false' },
      },
    });

  /** Reads a file, then says what is in it. */
  const reads: Script = ({ messages }) => {
    const results = messages.flatMap((message) => (message.role === 'tool' ? message.results : []));
    if (results.length === 0)
      return { reasoning: 'I need the file.', text: 'I look.', calls: [{ name: 'read_file', arguments: { file_path: 'note.txt' } }] };
    return { text: results.some(({ text }) => text.includes('heron')) ? 'The word is heron.' : 'I cannot read it.' };
  };

  const returned = ({ messages }: Understood): readonly string[] =>
    messages.flatMap((message) => (message.role === 'assistant' ? message.returned : []));

  it.each(['openai', 'openai-responses', 'anthropic', 'gemini', 'cohere'] satisfies Wire[])(
    'reads a file with its own tool over %s, and sends back what the model needs',
    async (wire) => {
      const story = fakes.start(`gemini-cli ${wire}`, { say: reads });
      const { out, err, code } = await run(refOf(wire), `What is the word? ${story.mark}`);
      expect(code, err).toBe(0);
      expect(JSON.parse(out)).toMatchObject({ response: 'The word is heron.' });
      expect(story.understood[0]?.tools).toContain('read_file');
      if (wire !== 'openai') expect(returned(story.understood[1] as Understood).length).toBeGreaterThan(0);
    },
  );
});
