/** A button that opens the file dialog of the browser. */

type UploadProps = { label: string; accept?: string; isMultiple?: boolean; onFiles(files: readonly File[]): unknown };

export function UploadButton({ label, accept, isMultiple = false, onFiles }: UploadProps) {
  return (
    <label class="button">
      {label}
      <input
        type="file"
        class="visually-hidden"
        accept={accept}
        multiple={isMultiple}
        onChange={({ currentTarget }) => {
          void onFiles([...(currentTarget.files ?? [])]);
          // The same file can be chosen again.
          currentTarget.value = '';
        }}
      />
    </label>
  );
}
