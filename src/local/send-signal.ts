/** Signals for processes that can end at any moment. */

/** Sends the signal to a process, or with a negative id to a group (kill(2)). Does nothing where it has ended before the signal arrives. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // ESRCH: all have ended. EPERM (macOS): only zombies are left.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
}
