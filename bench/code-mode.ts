/**
 * What a model is sent for one question over the 117 tools of the GitHub server, with plain tools and in code mode, through the service as
 * `npm start` runs it. Token counts are estimates. `node bench/code-mode.ts`
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { question, rightAnswer, runCodeModeStory, type StoryResult } from '../test/e2e/code-mode-story.ts';
import { makeDataDir, removeDataDir, startService } from '../test/e2e/service.ts';

const corpus = join(import.meta.dirname, '../../shared/fixtures/mcp-tools/github.json');
if (!existsSync(corpus)) {
  console.log('Code mode: the corpus (../shared/fixtures) is not beside this checkout; nothing measured.');
  process.exit(0);
}

const dataDir = makeDataDir();
const service = await startService(dataDir, { MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
try {
  const results = await runCodeModeStory(service.call, corpus);
  console.log(`"${question}"\n`);
  console.log('| tools are sent | mode | requests | first request, tokens | all requests, tokens | bytes | of plain | right |');
  console.log('|---|---|---|---|---|---|---|---|');
  for (const one of results) console.log(row(one, results));
  process.exitCode = results.every(({ text }) => text === rightAnswer) ? 0 : 1;
} finally {
  await service.stop();
  removeDataDir(dataDir);
}

function row(one: StoryResult, all: readonly StoryResult[]): string {
  const plain = all.find(({ sent, mode }) => sent === one.sent && mode === 'plain')?.tokens ?? one.tokens;
  const share = `${Math.round((one.tokens / plain) * 100)} %`;
  const cells = [one.sent, one.mode, one.requests, one.firstTokens, one.tokens, one.bytes, share, one.text === rightAnswer ? 'yes' : 'NO'];
  return `| ${cells.join(' | ')} |`;
}
