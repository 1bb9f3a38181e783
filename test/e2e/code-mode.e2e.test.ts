import { beforeAll, describe, expect, it } from 'vitest';
import { describeCorpus } from '../fixtures.ts';
import { rightAnswer, tellCodeModeStory, type Told } from './code-mode-story.ts';
import { shareService } from './shared-service.ts';

describeCorpus('mcp-tools/github.json', (corpus) => {
  const service = shareService({ MONIKER_ALLOW_PRIVATE_HOSTS: '127.0.0.1:*' });
  let told: Told[] = [];
  beforeAll(async () => {
    told = await tellCodeModeStory(service.call, corpus);
  }, 120_000);
  const way = (sent: Told['sent'], mode: Told['mode']): Told => {
    const found = told.find((one) => one.sent === sent && one.mode === mode);
    if (found === undefined) throw new Error('it was not told');
    return found;
  };

  describe.each(['on demand', 'all'] as const)('a question over 117 tools of GitHub, told %s', (sent) => {
    it('has the right answer in either mode, from the same calls', () => {
      for (const mode of ['plain', 'code'] as const) {
        const { text, asked, toolCalls } = way(sent, mode);
        expect(text).toBe(rightAnswer);
        expect(asked).toEqual(['list_issues', 'list_issues 50', 'issue_read get_comments']);
        expect(toolCalls.every(({ isError }) => !isError)).toBe(true);
      }
      expect(new Set(way(sent, 'code').toolCalls.map(({ canonical }) => canonical))).toEqual(new Set(['builtin.run_code']));
    });

    it('sends the model less than a third as much in code mode', () => {
      const [plain, inCode] = [way(sent, 'plain'), way(sent, 'code')];
      console.log(`  ${sent}: plain ${plain.tokens} tokens in ${plain.requests} requests, code ${inCode.tokens} in ${inCode.requests}`);
      expect(inCode.requests).toBeLessThan(plain.requests);
      expect(inCode.tokens).toBeLessThan(plain.tokens / 3);
    });
  });
});
