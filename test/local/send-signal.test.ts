import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { sendSignal } from '../../src/local/send-signal.ts';

function startIdle() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true });
  if (child.pid === undefined) throw new Error('The process did not start.');
  return { child, pid: child.pid, ended: once(child, 'exit') };
}

describe('a signal', () => {
  it('ends a process', async () => {
    const { child, pid, ended } = startIdle();
    sendSignal(pid, 'SIGKILL');
    await ended;
    expect(child.signalCode).toBe('SIGKILL');
  });

  it('does nothing where the process or its group has ended already', async () => {
    const { pid, ended } = startIdle();
    sendSignal(-pid, 'SIGKILL');
    await ended;
    expect(() => sendSignal(pid, 'SIGKILL')).not.toThrow();
    expect(() => sendSignal(-pid, 'SIGKILL')).not.toThrow();
  });
});
