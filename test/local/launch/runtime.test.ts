import { expect, it } from 'vitest';
import { startFailure } from '../../../src/local/launch/runtime.ts';
import { Raw, toCapnp } from '../../../src/local/workerd/capnp.ts';
import { toLogRecord } from '../../../src/local/workerd/process.ts';

/** As `workerd/process.ts` reports it: the messages of the runtime's log. */
const failed = (message: string): Error => new Error(`The Workers runtime did not start (exit 1).\n${message}`);

it('reports the error of a tool that cannot be registered in one line', () => {
  const failure = startFailure(
    failed(
      'service main: Uncaught Error: defineTool run it: "run it" cannot be a name: it contains a space\n  at file:///bundle/worker.js:1:2',
    ),
  );
  expect(failure?.message).toBe('The service cannot start: defineTool run it: "run it" cannot be a name: it contains a space');
});

it('logs what the runtime or a library prints as a record like those of the Worker, which are unchanged', () => {
  const own = '{"level":"info","message":"turn ended","at":"2026-03-09T08:00:00.000Z"}';
  expect(toLogRecord({ message: own, level: 'log' })).toBe(own);
  for (const message of ['Uncaught exception:\n\tfailed', '{"level":1}', '[]', 'null', '\u001b[31mred'])
    expect(JSON.parse(toLogRecord({ message, level: 'error' }))).toEqual({
      level: 'error',
      message,
      at: expect.any(String),
      from: 'runtime',
    });
  expect(JSON.parse(toLogRecord({ message: 'a warning', level: 'warn' }))).toMatchObject({ level: 'info' });
  expect(toLogRecord({ message: 'two\nlines', level: 'error' })).not.toContain('\n');
});

it('says that another program took the port', () => {
  expect(startFailure(failed('bind(fd, addr): Address already in use; address = 127.0.0.1:8787'))?.message).toContain('took the port');
});

it('leaves other failures of the runtime as they are', () => {
  expect(startFailure(failed('Disk full'))).toBeNull();
  expect(startFailure('text')).toBeNull();
});

it('writes the text format of Cap’n Proto, with quotes, backslashes and control characters escaped', () => {
  const value = { name: 'a "b" \\ c\n', flags: ['ü'], on: true, module: new Raw('embed "/x"'), none: {} };
  expect(toCapnp(value)).toBe('(name = "a \\x22b\\x22 \\x5c c\\x0a", flags = ["ü"], on = true, module = embed "/x", none = ())');
});
