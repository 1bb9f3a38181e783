/** Counts the frames of an event stream that passes in pieces. Looks at the first byte of each line, and finds the lines natively. */
export type FrameCount = {
  add(bytes: Uint8Array): void;
  /** Complete frames with data; heartbeats are comments. */
  count(): number;
  /** False in the middle of a frame. */
  isWhole(): boolean;
};

export function createFrameCount(): FrameCount {
  const [lineFeed, carriageReturn, colon] = [10, 13, 58];
  let count = 0;
  let isComment = true;
  let isOpen = false;
  let isLineEmpty = true;
  const addToLine = (bytes: Uint8Array, start: number, end: number): void => {
    let first = start;
    while (first < end && bytes[first] === carriageReturn) first += 1;
    if (!isLineEmpty || first >= end) return;
    if (bytes[first] !== colon) isComment = false;
    isLineEmpty = false;
    isOpen = true;
  };
  const endLine = (): void => {
    if (isLineEmpty && isOpen) {
      if (!isComment) count += 1;
      isComment = true;
      isOpen = false;
    }
    isLineEmpty = true;
  };
  return {
    add(bytes) {
      let from = 0;
      for (let to = bytes.indexOf(lineFeed); to >= 0; to = bytes.indexOf(lineFeed, from)) {
        addToLine(bytes, from, to);
        endLine();
        from = to + 1;
      }
      addToLine(bytes, from, bytes.byteLength);
    },
    count: () => count,
    isWhole: () => !isOpen,
  };
}
