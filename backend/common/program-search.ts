/**
 * On Windows, a program that is named without a folder is searched in the current folder first, which may be a project that is not trusted. This variable
 * forbids it to libuv, to cmd.exe and to Windows itself.
 */
export function searchNoCurrentFolder(): void {
  if (process.platform === 'win32') process.env['NoDefaultCurrentDirectoryInExePath'] = '1';
}
