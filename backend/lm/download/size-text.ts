/** Formats the size of a download or a disk in units of 1000, as usual for disks: "988 MB", "15.2 GB". */
export function gigabytes(bytes: number): string {
  if (bytes < 999_500) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 999.5e6 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Formats a size of memory in units of 1024, as usual for memory: "24.0 GB". */
export function memoryGigabytes(bytes: number): string {
  return `${(bytes / 2 ** 30).toFixed(1)} GB`;
}
