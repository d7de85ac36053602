import { createContext, type RefObject } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';

/** From here on a page has room for more than a list. Pixels. */
const WIDE = 700;

/** The width of an element's content, in pixels, kept up to date; 0 until it is laid out. */
export function useWidth<T extends HTMLElement>(): [RefObject<T>, number] {
  const ref = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const measure = (): void => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, width];
}

/** Whether the page has room for more than a list. */
export const WideContext = createContext(false);

export function isWide(width: number): boolean {
  return width >= WIDE;
}

export function useIsWide(): boolean {
  return useContext(WideContext);
}
