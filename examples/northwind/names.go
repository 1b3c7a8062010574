package main

// The names are made up. Companies and people of these names are not meant.

var categories = []struct {
	name, description string
	products          []string
}{
	{"Beverages", "Tea and other drinks", []string{"Chai", "Masala Chai", "Iced Chai Latte", "Green Tea", "Ginger Beer", "Filter Coffee", "Elderflower Juice"}},
	{"Condiments", "Sauces and spices", []string{"Aniseed Sugar", "Plum Mustard", "Chilli Relish", "Rose Salt", "Maple Glaze", "Walnut Pesto"}},
	{"Confections", "Sweets and cakes", []string{"Almond Brittle", "Honey Cake", "Liquorice Wheels", "Nougat Bar", "Ginger Snaps", "Marzipan Loaf"}},
	{"Dairy", "Cheeses and butter", []string{"Alpine Cheese", "Blue Goat Cheese", "Smoked Ricotta", "Salted Butter", "Quark"}},
	{"Grains", "Bread and pasta", []string{"Rye Crispbread", "Spelt Pasta", "Oat Flakes", "Buckwheat Noodles", "Corn Tortillas"}},
	{"Produce", "Dried fruit and preserves", []string{"Dried Pears", "Sour Cherries", "Pickled Gherkins", "Sun Dried Tomatoes", "Chestnut Puree"}},
	{"Seafood", "Fish and seaweed", []string{"Pickled Herring", "Smoked Trout", "Nori Sheets", "Anchovy Fillets", "Crab Paste"}},
}

var suppliers = []struct{ name, country, city string }{
	{"Harbour Imports", "UK", "Bristol"}, {"Lotus Trading", "Japan", "Kobe"}, {"Almhof Waren", "Austria", "Graz"},
	{"Molino Verde", "Italy", "Parma"}, {"Fjordmat", "Norway", "Bergen"}, {"Maison Lavande", "France", "Grasse"},
	{"Prairie Mills", "Canada", "Regina"}, {"Nilgiri Estates", "India", "Ooty"},
}

var employees = []struct{ name, email, title, manager string }{
	{"Ines Okafor", "ines@northwind.example", "Director", ""},
	{"Paul Winter", "paul@northwind.example", "Head of Sales", "ines@northwind.example"},
	{"Mara Lind", "mara@northwind.example", "Sales", "paul@northwind.example"},
	{"Tomas Reyes", "tomas@northwind.example", "Sales", "paul@northwind.example"},
	{"Yuki Sato", "yuki@northwind.example", "Sales", "paul@northwind.example"},
	{"Nora Falk", "nora@northwind.example", "Assistant", "mara@northwind.example"},
}

// places are where customers are. Each name is that of a customer in each city.
var places = []struct {
	country string
	cities  []string
	names   []string
}{
	{"Germany", []string{"Bonn", "Leipzig", "Mannheim"}, []string{"%s Feinkost", "Teehaus %s"}},
	{"Austria", []string{"Linz", "Salzburg"}, []string{"%s Delikatessen"}},
	{"Brazil", []string{"Recife", "Curitiba"}, []string{"Mercado %s"}},
	{"Denmark", []string{"Aarhus"}, []string{"%s Handel", "Cafe %s"}},
	{"France", []string{"Nantes", "Lille", "Dijon"}, []string{"Epicerie de %s"}},
	{"Italy", []string{"Modena", "Lecce"}, []string{"Bottega %s"}},
	{"Mexico", []string{"Puebla"}, []string{"Abarrotes %s", "Casa %s"}},
	{"Spain", []string{"Cadiz", "Gijon"}, []string{"Tienda %s"}},
	{"Sweden", []string{"Lund"}, []string{"%s Livs"}},
	{"UK", []string{"York", "Cardiff", "Leith"}, []string{"%s Fine Foods"}},
	{"USA", []string{"Boise", "Portland", "Albany"}, []string{"%s Market"}},
}
