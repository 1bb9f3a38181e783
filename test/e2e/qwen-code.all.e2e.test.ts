/**
 * qwen-code without a terminal in its Gemini mode, where `qwen` is installed (its package is too large for the tests' dependencies): it runs its own tools in a loop over every wire, in two steps with parallel calls. Last run by hand with qwen-code 0.24.4.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Script, Understood } from '../fakes/upstreams/upstream.ts';
import { isSkipped } from '../selection.ts';
import { type FakeProviders, refOf, startFakeProviders, type Wire } from './fake-providers.ts';
import { isInstalled } from './installed.ts';
import { runProgram } from './run-program.ts';
import { shareService } from './shared-service.ts';

const settings = {
  security: { auth: { selectedType: 'gemini' }, folderTrust: { enabled: false } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false, disableAutoUpdate: true, disableUpdateNag: true },
};

const resultsOf = ({ messages }: Understood) => messages.flatMap((message) => (message.role === 'tool' ? message.results : []));

describe.skipIf(isSkipped(!isInstalled('qwen'), 'qwen-code', 'there is no qwen in PATH'))('qwen-code in its Gemini mode', () => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: 'providers:127.0.0.1:*' });
  const home = mkdtempSync(join(tmpdir(), 'moniker-qwen-'));
  const folder = join(home, 'work');
  let fakes: FakeProviders;

  beforeAll(async () => {
    fakes = await startFakeProviders();
    await fakes.putAll(service.call);
    mkdirSync(join(home, '.qwen'));
    mkdirSync(folder);
    writeFileSync(join(home, '.qwen/settings.json'), JSON.stringify(settings));
    for (const word of ['heron', 'crane']) writeFileSync(join(folder, `${word}.txt`), `The word is ${word}.\n`);
  });
  afterAll(() => {
    fakes.close();
    rmSync(home, { recursive: true, force: true });
  });

  const run = (model: string, prompt: string) =>
    runProgram('qwen', ['--model', model, '--output-format', 'json', '--approval-mode', 'yolo', '--prompt', prompt], {
      cwd: folder,
      env: { HOME: home, GEMINI_API_KEY: service.key, GOOGLE_GEMINI_BASE_URL: service.url },
    });

  /** Reads two files at once, writes a third, then says what it has read. */
  const works: Script = (heard) => {
    const results = resultsOf(heard);
    const at = (name: string): string => join(folder, name);
    if (results.length === 0)
      return {
        ...{ reasoning: 'I need both.', text: 'I look.' },
        calls: ['heron', 'crane'].map((word) => ({ name: 'read_file', arguments: { file_path: at(`${word}.txt`) } })),
      };
    if (results.length === 2)
      return { reasoning: 'Now I write.', calls: [{ name: 'write_file', arguments: { file_path: at('made.txt'), content: 'both\n' } }] };
    return { text: ['heron', 'crane'].filter((word) => results.some(({ text }) => text.includes(word))).join(' and ') };
  };

  const wires: Wire[] = ['openai', 'openai-responses', 'anthropic', 'gemini', 'cohere'];
  it.each(wires)('runs its own tools over %s, and sends back what the model needs', async (wire) => {
    rmSync(join(folder, 'made.txt'), { force: true });
    const story = fakes.start(`qwen-code ${wire}`, { say: works });
    const { out, err, code } = await run(refOf(wire), `What are the words? ${story.mark}`);
    expect(code, err + out).toBe(0);
    expect((JSON.parse(out) as { type: string; result?: string }[]).at(-1)).toMatchObject({ type: 'result', result: 'heron and crane' });
    expect(readFileSync(join(folder, 'made.txt'), 'utf8')).toBe('both\n');
    const returned = story.understood.at(-1)?.messages.flatMap((message) => (message.role === 'assistant' ? message.returned : []));
    if (wire !== 'openai') expect(returned?.length).toBeGreaterThan(0);
  });

  it('the stand-ins rejected no request', () => {
    expect(fakes.refused()).toEqual([]);
  });
});
