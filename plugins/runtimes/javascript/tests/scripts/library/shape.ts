export interface Shape {
  name: string;
}

export enum Size {
  Small = 1,
  Large,
}

export const describe = (shape: Shape, size: Size): string => `${Size[size]} ${shape.name}`;
