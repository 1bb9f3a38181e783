import { describe, expect, it } from 'vitest';
import { spaceWords } from '../../../src/core/names/name-words.ts';

describe('the words of a name', () => {
  it.each([
    ['getHTTPPage_v2', 'get HTTP Page_v2'],
    ['searchGithub_issues', 'search Github_issues'],
    ['S3Bucket', 'S3 Bucket'],
    ['run_command', 'run_command'],
    ['', ''],
  ])('of %j are %j', (name, spaced) => {
    expect(spaceWords(name)).toBe(spaced);
  });
});
