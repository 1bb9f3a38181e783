import { expect, it } from 'vitest';
import { startFailure } from '../../src/local/runtime.ts';

/** As miniflare reports it: the structured log of the runtime, in which the message is a JSON string. */
const failed = (message: string): Error =>
  new Error(`The Workers runtime failed to start.\nRuntime stderr:\n${JSON.stringify({ level: 'error', message, context_depth: 0 })}`);

it('reports the error of a tool that cannot be registered in one line', () => {
  const failure = startFailure(
    failed(
      'service core:user:moniker: Uncaught Error: defineTool run it: "run it" cannot be a name: it contains a space\n  at file:///bundle/worker.js:1:2',
    ),
  );
  expect(failure?.message).toBe('The service cannot start: defineTool run it: "run it" cannot be a name: it contains a space');
});

it('leaves other failures of the runtime as they are', () => {
  expect(startFailure(failed('Address already in use'))).toBeNull();
  expect(startFailure('text')).toBeNull();
});
