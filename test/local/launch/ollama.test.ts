import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { findOllama, ollamaAddress } from '../../../src/local/launch/ollama.ts';

describe('the address of an Ollama', () => {
  it.each([
    [undefined, '127.0.0.1:11434'],
    ['  ', '127.0.0.1:11434'],
    ['0.0.0.0', '127.0.0.1:11434'],
    ['0.0.0.0:4000', '127.0.0.1:4000'],
    ['models.lan', 'models.lan:11434'],
    ['http://models.lan:4000/', 'models.lan:4000'],
    ['[::1]:4000', '[::1]:4000'],
    ['http://', null],
  ])('%s is %s', (setting, address) => {
    expect(ollamaAddress(setting)).toBe(address);
  });
});

describe('probing for one', () => {
  const server = createServer((_request, response) => response.end(body));
  let body = '';
  const listen = (): Promise<string> =>
    new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(`127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`);
      });
    });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it.each([
    ['{"version": "0.9.0"}', true],
    ['{"hello": 1}', false],
    ['<html>', false],
  ])('a server that returns %s: %s', async (answer, found) => {
    body = answer;
    const address = await listen();
    expect(await findOllama(address)).toBe(found ? address : null);
  });

  it('finds none without a server', async () => {
    expect(await findOllama('127.0.0.1:9')).toBeNull();
  });
});
