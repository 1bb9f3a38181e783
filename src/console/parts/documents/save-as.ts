/** Saves content as a file of the user. */
export function saveAs(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name.split('/').at(-1) ?? 'file';
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
