import { map, parallel, task, workflow } from "@engine/sdk";
import { z } from "zod";

const Trip = z.object({ city: z.string(), days: z.int().min(1), guests: z.array(z.string()) });

const priceFlight = task({ name: "price_flight" }, async (city: string) => 40 * city.length);

const priceHotel = task(
  { name: "price_hotel" },
  async (stay: { city: string; days: number }) => 25 * stay.city.length * stay.days,
);

const bookSeat = task({ name: "book_seat" }, async (guest: { name: string; row: number }) => {
  if (guest.name === "") throw new Error(`row ${guest.row} has no passenger name`);
  return `${guest.row}A ${guest.name}`;
});

/** Prices a trip from two sources at once, then books a seat for each guest, two at a time. */
export const planTrip = workflow(
  { name: "plan_trip", namespace: "examples", input: Trip },
  async ({ city, days, guests }) => {
    //#region parallel
    const [flight, hotel] = await parallel([
      () => priceFlight(city),
      () => priceHotel({ city, days }),
    ]);
    //#endregion
    //#region map
    const seats = await map(guests, (name, index) => bookSeat({ name, row: index + 1 }), {
      concurrency: 2,
      settle: true,
    });
    //#endregion
    const booked = seats.flatMap((seat) => (seat.status === "fulfilled" ? [seat.value] : []));
    const refused = seats.flatMap((seat) =>
      seat.status === "rejected" ? [seat.failure.message] : [],
    );
    return { price: (flight + hotel) * booked.length, booked, refused };
  },
);
