/** An allowance of work that strangers can cause: `burst` at once, and one more every `everyMs`. In memory. */
export function createAllowance(now: () => number, { burst, everyMs }: { burst: number; everyMs: number }) {
  let left = burst;
  let refilledAt = now();
  return {
    /** Returns false when it is used up. */
    take(): boolean {
      const earned = Math.floor((now() - refilledAt) / everyMs);
      // The clock may have been set back.
      if (earned !== 0) refilledAt = now();
      left = Math.min(burst, left + Math.max(0, earned));
      if (left === 0) return false;
      left -= 1;
      return true;
    },
  };
}
