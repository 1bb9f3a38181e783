/** A script's own time limit. The timer is paused while the script waits for a tool call. Used by `run-shell-script.ts`. */

export type ScriptTime = {
  during<Value>(work: Promise<Value>): Promise<Value>;
  stop(): void;
};

/** `late` is called once, when the time limit is reached. */
export function createScriptTime(ms: number, late: () => void): ScriptTime {
  let left = ms;
  let since = Date.now();
  let waitedFor = 0;
  let isOver = false;
  let timer = setTimeout(late, left);
  return {
    async during(work) {
      if (waitedFor === 0) {
        clearTimeout(timer);
        left -= Date.now() - since;
      }
      waitedFor += 1;
      try {
        return await work;
      } finally {
        waitedFor -= 1;
        if (waitedFor === 0 && !isOver) {
          since = Date.now();
          timer = setTimeout(late, Math.max(0, left));
        }
      }
    },
    stop() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
