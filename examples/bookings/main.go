// Command bookings is a worked example of Plural as a library: meeting rooms and
// their bookings, declared as Go structs, with rules that no schema can say.
//
//	go run ./examples/bookings
//	curl localhost:8080/api/rooms -H 'Content-Type: application/json' -d '{"name":"Blue","seats":4}'
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/plural-go/plural"
	"github.com/plural-go/plural/params"
	"github.com/plural-go/plural/schema"
)

// Room is a resource of the collection rooms.
type Room struct {
	ID    string `json:"id"`
	Name  string `json:"name" plural:"required,maxLength=50,unique"`
	Seats int    `json:"seats" plural:"required,minimum=1"`
}

// Booking is a resource of the collection bookings, and of /rooms/<id>/bookings.
type Booking struct {
	ID        string    `json:"id"`
	RoomID    string    `json:"room_id" plural:"required,parent=rooms,on_delete=cascade"`
	Email     string    `json:"email" plural:"required,format=email"`
	People    int       `json:"people" plural:"required,minimum=1"`
	From      time.Time `json:"from" plural:"required"`
	Until     time.Time `json:"until" plural:"required"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	server, err := open(ctx, "sqlite:bookings.db", func(text string) { log.Print(text) })
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/api/", server)
	outer := &http.Server{Addr: "127.0.0.1:8080", Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		<-ctx.Done()
		_ = outer.Shutdown(context.Background())
	}()
	log.Print("serving http://127.0.0.1:8080/api/")
	if err := outer.ListenAndServe(); err != http.ErrServerClosed {
		log.Print(err)
	}
	if err := server.Stop(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// open makes the server: the schema of the two structs, and the rules.
func open(ctx context.Context, database string, notify func(string)) (*plural.Server, error) {
	rooms, err := schema.Of[Room]()
	if err != nil {
		return nil, err
	}
	bookings, err := schema.Of[Booking]()
	if err != nil {
		return nil, err
	}
	declared, err := schema.New(rooms, bookings)
	if err != nil {
		return nil, err
	}
	return plural.Open(ctx, plural.Config{
		Schema: declared, Database: database, Prefix: "/api",
		Hooks: []plural.Hook{{
			Collection: "bookings", On: []plural.Verb{plural.Create, plural.Update},
			Before: lowerEmail,
			Within: keepApart,
			After: func(_ context.Context, change *plural.Change) {
				notify(fmt.Sprintf("%s: booking of %s", change.Verb, change.After.Get("email")))
			},
		}},
	})
}

// lowerEmail needs only the request, so it runs before the transaction.
func lowerEmail(_ context.Context, change *plural.Change) error {
	email, ok := change.After.Get("email").(string)
	if !ok {
		return nil // a PATCH of something else
	}
	return change.After.Set("email", strings.ToLower(email))
}

// keepApart reads other bookings, and none may be added meanwhile: it runs
// inside the transaction.
func keepApart(_ context.Context, tx *plural.Tx, change *plural.Change) error {
	var booking Booking
	if err := change.After.Decode(&booking); err != nil {
		return err
	}
	if !booking.From.Before(booking.Until) {
		return plural.Invalid("/until", "Must be after from.")
	}
	found, err := tx.Get("rooms", booking.RoomID)
	if err != nil {
		return err
	}
	var room Room
	if err := found.Decode(&room); err != nil {
		return err
	}
	if booking.People > room.Seats {
		return plural.Invalid("/people", "The room %s has %d seats.", room.Name, room.Seats)
	}
	others, err := tx.List("bookings", params.Where("room_id").Is(booking.RoomID), params.Where("id").Not(booking.ID),
		params.Where("from").Less(booking.Until), params.Where("until").More(booking.From), params.Limit(1))
	if err != nil {
		return err
	}
	if len(others) > 0 {
		return plural.Conflict("/from", "The room is taken from %s until %s.", others[0].Get("from"), others[0].Get("until"))
	}
	return nil
}
